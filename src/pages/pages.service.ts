import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { Injectable, NotFoundException } from '@nestjs/common';
import { Asset } from './asset';

const OWN = join(__dirname, 'static');
const BUILT = join(__dirname, 'swagger-ui-dist'); // copied by nest-cli.json; from the sources, the package is there
const SWAGGER_UI = existsSync(BUILT) ? BUILT : dirname(require.resolve('swagger-ui-dist/package.json'));

/** What pages load, and its folder. Nothing else in these folders is served. */
const FOLDERS: Record<string, string> = {
  'site.css': OWN,
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

/** The origin in home.html, replaced by the one that the reader's browser uses. */
const WRITTEN_ORIGIN = 'http://localhost:3000';

/** The pages and what they load, read at the first request. The home page names its own address: it is made per request. */
@Injectable()
export class PagesService {
  private readonly made = new Map<string, Promise<Asset>>();
  private homeHtml?: string;

  /** @param origin of the server, as the reader's browser knows it */
  async home(origin: string): Promise<Asset> {
    this.homeHtml ??= await readFile(join(OWN, 'home.html'), 'utf8');
    return Asset.of(typeOf('home.html'), this.homeHtml.replaceAll(WRITTEN_ORIGIN, origin));
  }

  /** An index of the operations. Swagger UI takes seconds on a phone: docs.js loads it when an operation is opened. */
  docs(): Promise<Asset> {
    return this.once('docs.html', async () => {
      const page = await readFile(join(OWN, 'docs.html'), 'utf8');
      const index = indexOf(await readFile(besidePackageJson('openapi.json'), 'utf8'));
      return page.replace('<!-- operations -->', () => index);
    });
  }

  /** @param name openapi.json or openapi.yaml */
  description(name: string): Promise<Asset> {
    return this.once(name, () => readFile(besidePackageJson(name)));
  }

  /** @throws NotFoundException */
  async asset(name: string): Promise<Asset> {
    const folder = Object.hasOwn(FOLDERS, name) ? FOLDERS[name] : undefined;
    if (folder === undefined) throw new NotFoundException();
    return this.once(name, () => readFile(join(folder, name)));
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

interface Description {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, { operationId: string; summary: string; tags: string[] }>>;
}

/** HTML: each tag with its operations, linked as Swagger UI names them. */
function indexOf(json: string): string {
  const { tags, paths } = JSON.parse(json.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)) as Description;
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ ...operation, call: `${method.toUpperCase()} ${path}` })),
  );
  const sections = tags.map(({ name, description }) => {
    const link = `<a href="#/${encodeURIComponent(name)}`;
    const items = operations
      .filter((operation) => operation.tags.includes(name))
      .map(({ operationId, call, summary }) => `<li>${link}/${operationId}"><code>${call}</code></a> ${summary}</li>`);
    return `<h2>${name}</h2><p>${description}</p><ul>${items.join('')}</ul>`;
  });
  return sections.join('\n');
}

/** A file in the folder of package.json, which is two folders above src/pages and three above dist/src/pages. */
function besidePackageJson(name: string): string {
  return ['../..', '../../..'].map((up) => join(__dirname, up, name)).find((file) => existsSync(file)) ?? name;
}
