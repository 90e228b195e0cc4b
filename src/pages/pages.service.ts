import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { Injectable, NotFoundException } from '@nestjs/common';
import { dump } from 'js-yaml';
import { Asset } from './asset';

const OWN = join(__dirname, 'static');
const SWAGGER_UI = dirname(require.resolve('swagger-ui-dist/package.json'));

/** What pages load, and the folders that it is in. Nothing else of those folders is served. */
const FOLDERS: Record<string, string> = {
  'site.css': OWN,
  'docs.css': OWN,
  'docs.js': OWN,
  'icon.svg': OWN,
  'swagger-ui.css': SWAGGER_UI,
  'swagger-ui-bundle.js': SWAGGER_UI,
};

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.yaml': 'application/yaml; charset=utf-8',
};
const typeOf = (name: string): string => TYPES[extname(name)] as string;

/** The origin that the front page, as it stands in its file, speaks of. */
const WRITTEN_ORIGIN = 'http://localhost:3000';

/**
 * The pages and what they load. Each is made at the first request for it: a start, and who never looks, pay nothing. The
 * front page names its own address, and is made for each request from what was read once.
 */
@Injectable()
export class PagesService {
  private readonly made = new Map<string, Promise<Asset>>();
  private homeHtml?: string;

  /** @param origin of the server, as the reader's browser knows it */
  async home(origin: string): Promise<Asset> {
    this.homeHtml ??= await this.html('home.html');
    return Asset.of(typeOf('home.html'), this.homeHtml.replaceAll(WRITTEN_ORIGIN, origin));
  }

  docs(): Promise<Asset> {
    return this.once('docs.html', () => this.html('docs.html'));
  }

  json(): Promise<Asset> {
    return this.once('openapi.json', () => readFile(description()));
  }

  yaml(): Promise<Asset> {
    return this.once('openapi.yaml', async () => {
      const document: unknown = JSON.parse(await readFile(description(), 'utf8'));
      return dump(document, { lineWidth: 120 });
    });
  }

  /** @throws NotFoundException */
  async asset(name: string): Promise<Asset> {
    const folder = Object.hasOwn(FOLDERS, name) ? FOLDERS[name] : undefined;
    if (folder === undefined) throw new NotFoundException();
    return this.once(name, () => readFile(join(folder, name)));
  }

  /** A page, in which the address of each asset names the asset's version, so that it can be kept for good. */
  private async html(name: string): Promise<string> {
    const parts = (await readFile(join(OWN, name), 'utf8')).split(/"\/assets\/([\w.-]+)"/);
    const put = async (part: string, at: number): Promise<string> =>
      at % 2 ? `"/assets/${part}?v=${(await this.asset(part)).version}"` : part;
    return (await Promise.all(parts.map(put))).join('');
  }

  private once(name: string, make: () => Promise<Buffer | string>): Promise<Asset> {
    const known = this.made.get(name);
    if (known) return known;
    const making = make().then((content) => Asset.of(typeOf(name), content));
    this.made.set(name, making);
    making.catch(() => this.made.delete(name));
    return making;
  }
}

/** The file beside package.json, which is one folder further away from dist/src/pages than from src/pages. */
function description(): string {
  const places = ['../..', '../../..'].map((up) => join(__dirname, up, 'openapi.json'));
  return places.find((file) => existsSync(file)) ?? 'openapi.json';
}
