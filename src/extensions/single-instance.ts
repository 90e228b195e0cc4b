import { readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, sep } from 'node:path';
import { ConfigError } from '../config';

/** Packages whose classes and metadata Lanyard and its extension must share. */
const SHARED_PACKAGES = [
  '@nestjs/common',
  '@nestjs/core',
  '@nestjs/swagger',
  '@nestjs/typeorm',
  'class-transformer',
  'class-validator',
  'typeorm',
];

interface Installed {
  folder: string;
  version: string;
}

/**
 * Checks that a project has no second instance of a package beside Lanyard's. With two, Nest would report that it cannot
 * resolve dependencies, and TypeORM that an entity has no metadata.
 * @param project a file, or a folder that ends in `/`, from which the project imports packages
 * @throws ConfigError with the packages and the command that shows where they come from
 */
export function requireSingleInstances(project: string): void {
  const others = SHARED_PACKAGES.flatMap((name) => {
    const [own, other] = [findPackage(name, __filename), findPackage(name, project)];
    return own && other && own.folder !== other.folder ? [{ name, own, other }] : [];
  });
  if (others.length === 0) return;
  const list = others.map(({ name, own, other }) => `${name} ${other.version} beside Lanyard's ${own.version}`);
  const names = others.map(({ name }) => name).join(' ');
  throw new ConfigError(
    `This project has a second instance of packages that it must share with Lanyard: ${list.join(', ')}. ` +
      `"npm ls ${names}" shows where they come from. Remove them from package.json, or ask for Lanyard's version there.`,
  );
}

function findPackage(name: string, from: string): Installed | undefined {
  try {
    const file = realpathSync(createRequire(from).resolve(name));
    const end = join('node_modules', name) + sep;
    const folder = file.slice(0, file.lastIndexOf(end) + end.length);
    return folder.endsWith(end) ? { folder, version: versionIn(folder) } : undefined;
  } catch {
    return undefined;
  }
}

const versionIn = (folder: string): string =>
  (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version;
