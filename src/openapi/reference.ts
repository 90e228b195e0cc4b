import type { NestExpressApplication } from '@nestjs/platform-express';
import { SwaggerModule } from '@nestjs/swagger';
import type { Express, RequestHandler } from 'express';
import { openApiDocument } from './document';

/** Swagger UI loads from this server alone. Nest's page has styles inline, but no script. */
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
 * Swagger UI at /docs, and the document as JSON and YAML, which is made when it is first asked for. They are no routes of
 * a controller, so that they need no key and take no token.
 */
export function serveReference(app: NestExpressApplication): void {
  const express = app.getHttpAdapter().getInstance() as Express;
  express.use('/docs', (_, response, next) => {
    response.set(PAGE_HEADERS);
    next();
  });
  express.get('/openapi.yaml', cacheYaml());
  express.get('/', (_, response) => response.redirect('/docs'));
  SwaggerModule.setup('docs', app, () => openApiDocument(app), {
    jsonDocumentUrl: 'openapi.json',
    yamlDocumentUrl: 'openapi.yaml',
    customSiteTitle: 'Lanyard: API reference',
    swaggerOptions: {
      persistAuthorization: true,
      filter: true,
      tryItOutEnabled: true,
      displayRequestDuration: true,
      defaultModelsExpandDepth: 0,
      validatorUrl: null, // It would tell another server of this one.
    },
  });
}

/** Nest writes the YAML for each request, which takes 15 ms: 66 requests a second, without a key, would stop the server. */
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
