import { setTimeout as pause } from 'node:timers/promises';
import { ask } from '../../prove/support/ask';
import type { Random } from '../../prove/support/random';

const MAX_LIMIT = 50;
/** A short list is read in smaller pages, so that something can happen between two of them. */
const MIN_PAGES = 5;
/** A walk begins at most so many pages before the end of the list, because that is where rows are added. */
const PAGES_BEFORE_END = 20;
const MAX_PAGES = 100;

/** The records that other clients delete from a list: what stands after one of them moves to another page. */
export class Deletions {
  /** From before the request is sent. */
  readonly ids = new Set<string>();
  answered = 0;
}

interface List {
  /** Port of a server on this machine. */
  port: number;
  key: string;
  path: string;
  /** SQL of the ids in it, in no order. */
  ids: string;
}

interface Page {
  /** How many rows are before it. */
  start: number;
  ids: string[];
  total: number;
}

/** A page of a walk, and how many rows may have been deleted since the page before it was read. */
type NextPage = Page & { deletions: number };

/** A client that reads the end of a list again and again, in pages of a random size, while others add to it and delete. */
export class Pager {
  readonly walks: NextPage[][] = [];
  private readonly broken: string[] = [];
  private total = 0;
  private isReading = true;
  private running = Promise.resolve();

  constructor(
    private readonly list: List,
    private readonly deletions: Deletions,
    private readonly random: Random,
    /** Between two pages. */
    private readonly pauseMs: number,
  ) {}

  start(): void {
    this.running = (async () => {
      await this.read(1, 0); // knows the total
      while (this.isReading) await this.walk();
    })();
  }

  /** The walk under way ends where it is. */
  async stop(): Promise<void> {
    this.isReading = false;
    await this.running;
  }

  /** How many walks went on while so many rows, or more, were added at the same moment. */
  across(count: number): number {
    const isJump = ({ total }: Page, n: number, pages: Page[]): boolean =>
      total - (pages[n - 1]?.total ?? total) >= count;
    return this.walks.filter((pages) => pages.some(isJump)).length;
  }

  /** What must not be in what was read. Nobody writes any more. */
  async complaints(select: (sql: string) => Promise<{ id: string }[]>): Promise<string[]> {
    const rows = await select(`${this.list.ids} order by position`);
    const positions = new Map(rows.map(({ id }, position) => [id, position]));
    const found = [...this.broken, ...this.walks.flatMap((pages) => this.complaintsOf(pages, positions))];
    return found.map((complaint) => `${this.list.path}: ${complaint}`);
  }

  /**
   * A walk must meet each record that is left once, in the order of the list, and miss none but for deletions before it.
   * Nothing may ever come before a record that was read.
   */
  private complaintsOf(pages: NextPage[], positions: Map<string, number>): string[] {
    const found: string[] = [];
    let next: number | undefined;
    let deletions = 0;
    for (const page of pages) {
      deletions += page.deletions;
      for (const [n, id] of page.ids.entries()) {
        const position = positions.get(id);
        if (position === undefined) {
          if (!this.deletions.ids.has(id)) found.push(`${id} is gone`);
          continue;
        }
        const missed = position - (next ?? position);
        if (missed < 0) found.push(`${id} a second time, or in another order`);
        if (missed > deletions) found.push(`${missed} missed before ${id}, with ${deletions} deletions`);
        if (position > page.start + n) found.push(`${id} was at ${page.start + n}, and is at ${position} in the end`);
        next = position + 1;
        deletions = 0;
      }
    }
    return found;
  }

  private async walk(): Promise<void> {
    const maxLimit = Math.min(MAX_LIMIT, Math.floor(this.total / MIN_PAGES));
    const limit = this.random.between(1, Math.max(1, maxLimit));
    const pages: NextPage[] = [];
    this.walks.push(pages);
    const first = Math.max(0, Math.floor(this.total / limit) - PAGES_BEFORE_END);
    let { answered } = this.deletions;
    for (let offset = first; this.isReading && pages.length < MAX_PAGES; offset++) {
      const before = this.deletions.answered;
      const page = await this.read(limit, offset);
      pages.push({ ...page, deletions: this.deletions.ids.size - answered });
      answered = before;
      await pause(this.pauseMs);
      if (page.ids.length < limit) return;
    }
  }

  private async read(limit: number, offset: number): Promise<Page> {
    const query = `limit=${limit}&offset=${offset}`;
    const { port, key, path } = this.list;
    const { status, body } = await ask(port, { method: 'GET', path: `/api/v0${path}?${query}`, key });
    const { total = 0, ...lists } = (body?.results ?? {}) as { total?: number };
    const [items = []] = Object.values(lists) as { id: string; leadId?: string }[][];
    const start = limit * offset;
    const expected = Math.min(limit, Math.max(0, total - start));
    if (status !== 200 || items.length !== expected) {
      this.broken.push(`${query}: status ${status}, ${items.length} records, ${total} in all`);
    }
    this.total = total;
    return { start, ids: items.map(({ id, leadId }) => leadId ?? id), total };
  }
}
