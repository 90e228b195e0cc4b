import type { IncomingMessage } from 'node:http';
import { SpanKind } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { IORedisInstrumentation } from '@opentelemetry/instrumentation-ioredis';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider, type ReadableSpan } from '@opentelemetry/sdk-trace-node';
import type { Request } from 'express';
import { routeOf } from './requests';

/** What a request's span may say: nothing that a client chose (a path, a user agent) but the request's id, nor where it is. */
const OF_REQUESTS =
  /^(http\.(route|request\.method|response\.status_code)|error\.type|network\.protocol\.\w+|lanyard\.\w+)$/;

/** Leaves out what may be personal: most of what a request says of itself, and the texts of errors, which quote rows. */
class DiscreetSpanProcessor extends BatchSpanProcessor {
  override onEnd(span: ReadableSpan): void {
    delete span.status.message;
    span.events.length = 0;
    if (span.kind === SpanKind.SERVER) {
      for (const name of Object.keys(span.attributes)) if (!OF_REQUESTS.test(name)) delete span.attributes[name];
    }
    super.onEnd(span);
  }
}

/**
 * Traces each request from HTTP to SQL and Redis, and sends them by OTLP; the exporter and the sampler read their own
 * variables (OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER, …). To be called before what is traced is loaded.
 * @returns stops it, after what is left was sent
 */
export function startTracing(): () => Promise<void> {
  const named = resourceFromAttributes({ 'service.name': 'lanyard' });
  const resource = defaultResource()
    .merge(named)
    .merge(detectResources({ detectors: [envDetector] }));
  const provider = new NodeTracerProvider({
    resource,
    spanProcessors: [new DiscreetSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  registerInstrumentations({
    tracerProvider: provider,
    instrumentations: [
      new HttpInstrumentation({
        applyCustomAttributesOnSpan: (span, request) => {
          const route = routeOf(request as IncomingMessage & Request);
          span.updateName(`${request.method} ${route}`).setAttribute('http.route', route);
          const { id, caller } = request as Request;
          if (id) span.setAttribute('lanyard.request_id', id);
          if (caller)
            span.setAttributes({ 'lanyard.organization_id': caller.organizationId, 'lanyard.key_id': caller.keyId });
        },
        disableOutgoingRequestInstrumentation: true,
      }),
      new PgInstrumentation({ requireParentSpan: true }),
      new IORedisInstrumentation({ requireParentSpan: true, dbStatementSerializer: (command) => command }),
    ],
  });
  return () => provider.shutdown();
}
