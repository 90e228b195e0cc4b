# The image needs an external PostgreSQL (DATABASE_URL) and does not include the embedded one.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --omit=optional --include=dev
COPY tsconfig.json tsconfig.build.json nest-cli.json ormconfig.ts ./
COPY scripts/build.mjs ./scripts/
COPY src ./src
# --build-arg TRACING=on adds OpenTelemetry, which takes 110 MB (docs/tracing.md). A server does not need the source maps of
# packages and TypeORM's browser build; without them, node_modules shrinks from 115 MB to 67 MB.
ARG TRACING=off
RUN node scripts/build.mjs && npm prune --omit=dev --omit=optional --ignore-scripts && \
    if [ "$TRACING" = on ]; then npm install --no-save --omit=dev --omit=optional --ignore-scripts \
      @opentelemetry/auto-instrumentations-node@0.81.2; fi && \
    find node_modules -name '*.map' -delete && rm -r node_modules/typeorm/browser

FROM node:24-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
USER node
EXPOSE 3000
# A heap limit of 768 MiB makes V8 collect garbage earlier (docs/performance.md).
# node runs without npm or a shell in between, so that it receives SIGTERM itself.
CMD ["node", "--max-old-space-size=768", "dist/src/main.js"]
