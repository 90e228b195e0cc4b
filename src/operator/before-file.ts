import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { isConnectionError } from '../data/database/errors';
import type { Datasets } from '../exchange/datasets/dataset';
import type { FormerRecord } from '../exchange/datasets/former-records';
import type { BeforeRecord } from '../exchange/datasets/undo-restore';
import { isObject } from '../fields/field-rules';
import { COMMAND_NAME } from './command-name';
import { NewFile } from './new-file';
import { CommandError, errorMessage } from './terminal/terminal';

/** The file of `--before`: the records that an import changes. It is created if there is such a record. */
export class BeforeFile {
  /** The absolute name, by which a later undo finds the file. */
  readonly path: string;
  /** How many records were written. */
  count = 0;
  private readonly file: NewFile;

  /** @throws CommandError if there is such a file already */
  constructor(name: string) {
    this.path = resolve(name);
    this.file = new NewFile(this.path);
    this.file.requireNew();
  }

  /** Writes the whole file to the disk, before the import commits. */
  async write(records: AsyncIterable<FormerRecord>): Promise<void> {
    await this.file.remove();
    this.count = 0;
    for await (const { section, record, written } of records) {
      await this.file.append(`{"section":"${section}","record":${record},"written":${written}}\n`);
      this.count++;
    }
    await this.file.finish();
  }

  /** Removes the file of an import that has failed. If the connection was lost, the import may have been committed. */
  async removeAfter(error: unknown): Promise<void> {
    if (!isConnectionError(error)) await this.file.remove();
  }
}

/**
 * Reads a file of `--before` line by line.
 * @throws CommandError that names the line if it is not such a file
 */
export async function* readBeforeFile(path: string, datasets: Datasets): AsyncGenerator<BeforeRecord> {
  let line = 0;
  try {
    for await (const text of readLines(path)) {
      line++;
      yield changedRecord(text, datasets, `${path}, line ${line}`);
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`Cannot read ${path}: ${errorMessage(error)}`);
  }
}

/** The module `readline` would also end a line at characters that a text may contain. */
async function* readLines(path: string): AsyncGenerator<string> {
  let rest = '';
  for await (const part of createReadStream(path, 'utf8')) {
    const lines = `${rest}${part as string}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

function changedRecord(text: string, datasets: Datasets, place: string): BeforeRecord {
  const { section, record, written } = parseLine(text);
  if (datasets.has(section) && isObject(record) && written === undefined) {
    throw new CommandError(
      `${place}: there is no "written", because an earlier release wrote this file. It is a dataset: ` +
        `to bring its records back as they are in it, use ${COMMAND_NAME} import.`,
    );
  }
  if (!datasets.has(section) || !isObject(record) || !isObject(written)) {
    throw new CommandError(`${place}: this is not a line of a file of --before.`);
  }
  return { section, record, written };
}

function parseLine(text: string): Partial<Record<keyof BeforeRecord, unknown>> {
  try {
    return Object(JSON.parse(text)) as object;
  } catch {
    return {};
  }
}
