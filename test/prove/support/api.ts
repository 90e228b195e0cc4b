import { LANYARD } from '../../../scripts/services.mjs';
import { ask } from './ask';
import { Daemon, until } from './daemon';

/** One process of the API: the program as operators run it, unless it is another one. */
export class Api extends Daemon {
  constructor(
    logFile: string,
    readonly port: number,
    private readonly settings: NodeJS.ProcessEnv,
    private readonly program = LANYARD,
  ) {
    super(logFile);
  }

  launch(): void {
    const own = { NODE_ENV: 'production', HOST: '127.0.0.1', PORT: String(this.port) };
    this.run(process.execPath, this.program, { env: { ...process.env, ...own, ...this.settings } });
  }

  async start(): Promise<void> {
    this.launch();
    await this.untilReady();
  }

  /** @returns milliseconds */
  untilReady(): Promise<number> {
    return until('the API is ready', async () => (await this.readiness()) === 200);
  }

  /** Status of /health/ready; undefined when there is no answer. */
  async readiness(): Promise<number | undefined> {
    const asked = { method: 'GET', path: '/health/ready', agent: false, timeoutMs: 3000 } as const;
    return (await ask(this.port, asked)).status;
  }
}
