import { spawn, spawnSync } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { WriteStream } from 'node:tty';
import { stripVTControlCharacters } from 'node:util';
import { figures, Progress, progressLine } from '../../src/cli/terminal/progress';
import { pairs, table } from '../../src/cli/terminal/table';
import { Operator, outcomeOf } from '../support/operator';
import { unless } from '../support/redis-server';

/** A terminal as far as a bar needs it. */
const terminal = (columns = 80): WriteStream & { written: string } => {
  const stream = Object.assign(new EventEmitter(), {
    ...{ isTTY: true, columns, written: '' },
    write: (text: string) => (stream.written += text) !== '',
    cursorTo: () => true,
    clearLine: () => true,
    moveCursor: () => true,
  });
  return stream as unknown as WriteStream & { written: string };
};

const NO_SCRIPT = spawnSync('script', ['--version']).status === 0 ? '' : ' (skipped: no script on the PATH)';

describe('what a person sees at a terminal', () => {
  describe('colours', () => {
    const coloured = '\u001B[1mUsage:';
    const help = (env: NodeJS.ProcessEnv) => new Operator(env).run(['--help']);

    it('are elsewhere only where FORCE_COLOR asks for them', async () => {
      expect((await help({})).stdout).toMatch(/^Usage:/);
      expect((await help({ FORCE_COLOR: '1' })).stdout).toContain(coloured);
      expect((await new Operator({}).run(['keys', 'issue'])).stderr).toMatch(/^error: /);
      expect((await new Operator({ FORCE_COLOR: '1' }).run(['keys', 'issue'])).stderr).toContain('\u001B[31merror: ');
    });

    unless(NO_SCRIPT)(`on a terminal${NO_SCRIPT}`, () => {
      it('are seen, unless there is NO_COLOR', async () => {
        const atTerminal = async (env: NodeJS.ProcessEnv): Promise<string> => {
          const [program = '', ...args] = Operator.command(['--help']);
          const line = [program, ...args].map((word) => `'${word}'`).join(' ');
          const child = spawn('script', ['-qec', line, '/dev/null'], {
            env: Operator.environment({ TERM: 'xterm-256color', ...env }),
          });
          return (await outcomeOf(child)).stdout;
        };
        expect(await atTerminal({})).toContain(coloured);
        expect(await atTerminal({ NO_COLOR: '1' })).toMatch(/^Usage:/);
      });
    });
  });

  describe('a table', () => {
    const rows = [
      ['a', 1, null],
      ['Łódź', 20, 'last'],
    ];
    const head = ['name', 'keys', 'note'];

    it('has two blanks between columns, numbers to the right, and no blanks at the ends of lines', () => {
      const lines = ['name  keys  note', 'a        1', 'Łódź    20  last'];
      expect(stripVTControlCharacters(table(head, rows, 80))).toBe(lines.join('\n'));
    });

    it('is a block a row where the terminal is too narrow for it', () => {
      const lines = ['name  a', 'keys  1', 'note', '', 'name  Łódź', 'keys  20', 'note  last'];
      expect(stripVTControlCharacters(table(head, rows, 15))).toBe(lines.join('\n'));
    });

    it('of names and values is aligned', () => {
      const text = pairs([
        ['Keys', '3 active'],
        ['Migrations', 4],
      ]);
      expect(stripVTControlCharacters(text)).toBe('Keys        3 active\nMigrations  4');
    });
  });

  describe('progress', () => {
    it('is told in records, their rate, and the time that is left or has gone', () => {
      expect(figures({ records: 45_000, seconds: 10, share: 0.25 })).toEqual([
        '45,000 records',
        '4,500/s',
        '30 s left',
      ]);
      expect(figures({ records: 9, seconds: 100, share: 0.1 })).toEqual(['9 records', '0/s', '15 min 0 s left']);
      expect(figures({ records: 1, seconds: 3725 })).toEqual(['1 records', '0/s', '1 h 2 min']);
      expect(figures({ records: 8, seconds: 4, share: 1 })).toEqual(['8 records', '2/s', 'finishing']);
      expect(figures({ records: 0, seconds: 0, share: 0 })).toEqual(['0 records', '0 s']);
    });

    it('is drawn as a bar of the bytes, or of the records where nobody knows bytes', () => {
      const drawn = (use: (stream: WriteStream) => Progress): string => {
        const stream = terminal(120);
        use(stream).stop();
        return stream.written;
      };
      const halfOfBytes = (stream: WriteStream): Progress => {
        const progress = new Progress({ bytes: 2000 }, stream);
        progress.records(7);
        progress.read(1000);
        return progress;
      };
      expect(drawn(halfOfBytes)).toMatch(/█{20}░{20} 50% \| 7 records/);
      const records = (total?: number) => (stream: WriteStream) => {
        const progress = new Progress({ records: total }, stream);
        progress.records(30);
        return progress;
      };
      expect(drawn(records(40))).toMatch(/█{30}░{10} 75% \| 30 records/);
      expect(drawn(records())).toContain('30 records');
      expect(drawn(records())).not.toContain('%');
    });

    it.each([
      [80, `${'█'.repeat(20)}${'░'.repeat(20)} 50% | 45,000 records | 9 s left`],
      [51, `${'█'.repeat(9)}${'░'.repeat(9)} 50% | 45,000 records | 9 s left`],
      [34, '50% | 45,000 records | 9 s left'],
      [30, '████░░░░ 50% | 45,000 records'],
      [5, '50%'],
    ])('fits a terminal of %i columns', (columns, line) => {
      expect(progressLine(['45,000 records', '9 s left'], 0.5, columns)).toBe(line);
    });

    it('has no bar where nobody knows how much there is', () => {
      expect(progressLine(['45,000 records', '9 s'], undefined, 80)).toBe('45,000 records | 9 s');
      expect(progressLine(['45,000 records', '9 s'], undefined, 20)).toBe('45,000 records');
    });

    it('shows the share and the records on a narrow terminal', () => {
      const stream = terminal(40);
      const progress = new Progress({ bytes: 2000 }, stream);
      progress.records(7);
      progress.read(1000);
      progress.stop();
      const [, ...lines] = stream.written.split('\u001B[1G').map(stripVTControlCharacters);
      expect(lines.filter((line) => line.length >= 40)).toEqual([]);
      expect(lines).toContainEqual(expect.stringMatching(/50% \| 7 records/));
    });

    it('is not drawn where nobody sees it', () => {
      const stream = Object.assign(terminal(), { isTTY: false });
      const progress = new Progress({ bytes: 10 }, stream);
      progress.read(10);
      progress.stop();
      expect(stream.written).toBe('');
    });
  });
});
