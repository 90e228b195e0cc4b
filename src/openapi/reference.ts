import type { NestExpressApplication } from '@nestjs/platform-express';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { Express, RequestHandler } from 'express';
import { openApiDocument } from './document';
import type { Operation } from './operation';

/** Swagger UI may load only from this server. Nest's page has inline styles, but no inline script. */
const PAGE_HEADERS = {
  'Cache-Control': 'no-cache',
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join(';'),
};

/**
 * Serves Swagger UI at /docs, and the document as JSON and YAML, which is created on the first request. These are not routes
 * of a controller, so they need no key and cost no token.
 */
export function serveReference(app: NestExpressApplication): void {
  const express = app.getHttpAdapter().getInstance() as Express;
  express.use('/docs', (_, response, next) => {
    response.set(PAGE_HEADERS);
    next();
  });
  express.get('/openapi.yaml', cacheYaml());
  express.get('/', (_, response) => response.redirect('/docs'));
  const urls = { jsonDocumentUrl: 'openapi.json', yamlDocumentUrl: 'openapi.yaml' };
  SwaggerModule.setup('docs', app, () => openApiDocument(app), { ui: false, ...urls });
  SwaggerModule.setup('docs', app, () => withShownScopes(openApiDocument(app)), {
    raw: false,
    customSiteTitle: 'Lanyard: API reference',
    swaggerOptions: {
      persistAuthorization: true,
      filter: true,
      tryItOutEnabled: true,
      displayRequestDuration: true,
      defaultModelsExpandDepth: 0,
      validatorUrl: null, // The validator would send the document's URL to another server.
    },
  });
}

/** Swagger UI shows no roles of a security requirement, so its own copy of the document has them in the descriptions. */
function withShownScopes(document: OpenAPIObject): OpenAPIObject {
  for (const path of Object.values(document.paths) as Record<string, Operation>[]) {
    for (const operation of Object.values(path)) {
      const scopes = operation.security?.[0]?.apiKey?.map((scope) => `\`${scope}\``) ?? ['none is needed'];
      operation.description = `${operation.description ?? ''}\n\nScopes of keys: ${scopes.join(', ')}`;
    }
  }
  return document;
}

/** Nest creates the YAML on each request, which takes 15 ms: 66 requests a second, without a key, would stop the server. */
function cacheYaml(): RequestHandler {
  let cached: unknown;
  return (_, response, next) => {
    if (cached !== undefined) return void response.type('text/yaml').send(cached);
    const send = response.send.bind(response);
    response.send = (body) => {
      if (response.statusCode === 200) cached = body;
      return send(body);
    };
    next();
  };
}
