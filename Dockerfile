# The image runs on an external PostgreSQL (DATABASE_URL); the embedded one is for machines with nothing else.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --omit=optional --include=dev
COPY tsconfig.json tsconfig.build.json nest-cli.json ormconfig.ts ./
COPY scripts/build.mjs ./scripts/
COPY src ./src
# --build-arg TRACING=on adds OpenTelemetry, 110 MB: docs/tracing.md. Source maps of packages, and TypeORM for browsers, are of no
# use to a server: 48 of 115 MB.
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
# A heap of at most 768 MiB, which V8 therefore lets grow less between two big collections (docs/performance.md).
# node itself is process 1 (under compose's init) and hears SIGTERM: no npm and no shell in between.
CMD ["node", "--max-old-space-size=768", "dist/src/main.js"]
