import { existsSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandError, errorMessage } from './terminal/terminal';

/** The mode of files of personal data. */
export const OWNER_ONLY = 0o600;
const WRITE_LENGTH = 65_536;

/**
 * A new file of personal data, which is created with its first text: only its owner can read it, no other file is
 * overwritten, and no link of its name is followed.
 */
export class NewFile {
  private handle: FileHandle | undefined;
  private pending = '';

  /** @param encode by default, the file is UTF-8 */
  constructor(
    readonly path: string,
    private readonly encode: (text: string) => string | Buffer = (text) => text,
  ) {}

  /** @throws CommandError if there is a file of that name */
  requireNew(): void {
    if (existsSync(this.path)) {
      throw new CommandError(`Cannot write ${this.path}: the file exists already. Nothing was imported.`);
    }
  }

  /** @throws CommandError if it cannot be written */
  async append(text: string): Promise<void> {
    this.pending += text;
    if (this.pending.length > WRITE_LENGTH) await this.write();
  }

  /** Writes the rest, and waits until the disk has all of it. @throws CommandError if it cannot be written */
  async finish(): Promise<void> {
    if (this.pending !== '') await this.write();
    await this.handle?.sync().catch(this.fail);
    await this.handle?.close();
    if (this.handle) await syncFolder(dirname(this.path));
  }

  async remove(): Promise<void> {
    this.pending = '';
    await this.handle?.close();
    if (this.handle) await rm(this.path, { force: true });
    this.handle = undefined;
  }

  private async write(): Promise<void> {
    this.handle ??= await open(this.path, 'wx', OWNER_ONLY).catch(this.fail);
    await this.handle.appendFile(this.encode(this.pending)).catch(this.fail);
    this.pending = '';
  }

  private fail = (error: unknown): never => {
    throw new CommandError(`Cannot write ${this.path}: ${errorMessage(error)}. Nothing was imported.`);
  };
}

/** Keeps the name of a new file over a power failure, where the system can do that. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path).catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}
