import type { Express, IRoute } from 'express';
import type { ExpressAdapter } from '@nestjs/platform-express';

type Path = string | RegExp | (string | RegExp)[];

/** Records what modules add to Express themselves. Its requests pass no step of the pipeline. */
export class RawRoutes {
  private readonly added: { path: Path; route?: IRoute }[] = [];
  private isRecording = true;
  private lastOfNest = '';

  constructor(adapter: ExpressAdapter) {
    const app = adapter.getInstance<Express>();
    // All methods of Express that add a route call `route`.
    const route = app.route.bind(app) as (path: Path) => IRoute;
    const use = app.use.bind(app) as (...values: unknown[]) => Express;
    const recordingRoute = (path: Path): IRoute => {
      const created = route(path);
      if (this.isRecording) this.added.push({ path, route: created });
      else this.isRecording = String(path).endsWith(this.lastOfNest);
      return created;
    };
    const recordingUse = (...values: unknown[]): Express => {
      const [first] = values;
      if (this.isRecording) this.added.push({ path: typeof first === 'function' ? '/' : (first as Path) });
      return use(...values);
    };
    Object.assign(app, { route: recordingRoute, use: recordingUse });
  }

  /** Records nothing of what Lanyard and Nest's router add. @param lastOfNest the end of the path that the router adds last */
  pauseUntil(lastOfNest: string): void {
    this.isRecording = false;
    this.lastOfNest = lastOfNest;
  }

  /** The routes as `GET /graphql`, and middleware as `/graphql`. */
  names(): string[] {
    return this.added.map(({ path, route }) => {
      const methods = route ? [...new Set(route.stack.map(({ method }) => (method ?? 'all').toUpperCase()))] : [];
      return [methods.join(', '), String(path)].filter(Boolean).join(' ');
    });
  }
}
