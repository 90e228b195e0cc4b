import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operatorProgram } from '../../src/cli/commands';
import { completionScript, Shell } from '../../src/cli/terminal/completion';

const missing = (shell: Shell): string =>
  spawnSync(shell, ['--version']).status === 0 ? '' : ` (skipped: no ${shell} on the PATH)`;
const inShell = (shell: Shell) => (missing(shell) ? describe.skip : describe);

/** What stands behind the words of a command line, and what may be meant by the last of them. */
const CASES: [line: string[], offered: string[]][] = [
  [['k'], ['keys']],
  [
    ['keys', 'r'],
    ['rotate', 'revoke'],
  ],
  [
    ['--json', 'keys', 'r'],
    ['rotate', 'revoke'],
  ],
  [['keys', 'issue', '--ma'], ['--max-tokens']],
  [['keys', 'issue', '--label', 'keys', '--re'], ['--refill-rate']],
  [['keys', 'issue', '--label', 'x'], []],
  [['check', '--re'], ['--repair']],
  [['export', '--csv', 'l'], ['leads']],
  [
    ['export', '--organization', '1', '--csv', ''],
    ['leads', 'industryEvents'],
  ],
  [['import', 'READ'], ['README.md']],
  [['export', '--output', 'READ'], ['README.md']],
  [['export', 'READ'], []],
  [['completion', 'f'], ['fish']],
];

/** Runs a shell's program in the project's directory; gives the words that it prints. */
const run = (shell: Shell, options: string[]): string[] =>
  execFileSync(shell, options, { encoding: 'utf8', cwd: join(__dirname, '../..') })
    .split('\n')
    .filter(Boolean);

describe('the completion', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lanyard-completion-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  const scriptOf = (shell: Shell, name: string): string => {
    const file = join(folder, `${name}.${shell}`);
    writeFileSync(file, completionScript(shell, operatorProgram(), name));
    return file;
  };

  inShell('bash')(`of bash${missing('bash')}`, () => {
    const offered = (words: string[], name = 'operator'): string[] => {
      const program = `
        source "$1"; shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
        complete -p "$1" >/dev/null && "_$1" 2>/dev/null
        printf '%s\\n' "\${COMPREPLY[@]}"`;
      return run('bash', ['--norc', '-c', program, 'bash', scriptOf('bash', name), name, ...words]);
    };

    it.each(CASES)('after %j offers %j', (words, expected) => {
      expect(offered(words)).toEqual(expected);
    });

    it('offers all commands, and an option’s value also behind its sign', () => {
      const commands = operatorProgram().commands.map((command) => command.name());
      expect(offered([''])).toEqual([...commands, 'help', '--json', '--help']);
      expect(offered(['export', '--csv', '=', 'i'])).toEqual(['industryEvents']);
    });

    it('is for a program of any name', () => {
      expect(offered(['keys', 'i'], 'lanyard')).toEqual(['issue']);
    });
  });

  inShell('fish')(`of fish${missing('fish')}`, () => {
    it.each(CASES)('after %j offers %j', (words, expected) => {
      const program = `source ${scriptOf('fish', 'operator')}; function operator; end; complete -C "$argv"`;
      const found = run('fish', ['--no-config', '-c', program, 'operator', ...words]);
      // fish sorts, and says a word again with another description
      expect(found.map((line) => line.split('\t')[0]).sort()).toEqual([...expected].sort());
    });
  });

  inShell('zsh')(`of zsh${missing('zsh')}`, () => {
    it.each(CASES)('after %j offers %j', (words, expected) => {
      // Stand-ins for the completion system, which is there on a terminal alone.
      const program = `
        _describe() { for entry in "\${(@P)3}"; do [[ \${entry%%:*} == "$words[CURRENT]"* ]] && print -r -- "\${entry%%:*}"; done }
        _files() { print -rl -- "$words[CURRENT]"*(N) }
        compdef() { :; }
        source "$1"; shift
        words=("$@") CURRENT=$#
        _operator || true`;
      expect(run('zsh', ['-f', '-c', program, 'zsh', scriptOf('zsh', 'operator'), 'operator', ...words])).toEqual(
        expected,
      );
    });
  });
});
