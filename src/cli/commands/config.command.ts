import { Command } from 'commander';
import { Config, readConfig, type Setting, SETTINGS } from '../../config';
import { command, GlobalOptions } from '../arguments';
import { table } from '../terminal/table';
import { answer } from '../terminal/terminal';

/** `config` */
export function configCommand(program: Command): void {
  command(program, 'config', {
    about: 'Show the settings in force, without passwords. Connects to nothing.',
    result: '[{name, value, source}]; value is null when unset, source is environment or default',
    example: 'config',
  }).action((_, self: Command) => show(self.optsWithGlobals()));
}

async function show({ json }: GlobalOptions): Promise<void> {
  const config = readConfig();
  const settings = SETTINGS.map((setting) => ({
    name: setting.name,
    value: shown(setting, config),
    source: config.given.has(setting.key) ? 'environment' : 'default',
  }));
  await answer(json, settings, () =>
    table(
      ['setting', 'value', 'from'],
      settings.map(({ name, value, source }) => [name, value, source]),
    ),
  );
}

/** @returns the value as the variable would say it */
function shown({ key, secret, write }: Setting, config: Config): string | null {
  const value = config[key];
  if (value === undefined) return null;
  return secret ? withoutPassword(String(value)) : write(value);
}

/** A connection string may have a password in its place or among its parameters. */
function withoutPassword(connection: string): string {
  const url = new URL(connection);
  if (url.password) url.password = '***';
  for (const name of url.searchParams.keys()) {
    if (/password|secret|token|key/i.test(name)) url.searchParams.set(name, '***');
  }
  return url.href;
}
