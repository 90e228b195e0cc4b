import { fieldErrors, firstInvalidPath, isObject, toInstance } from '../api/field-rules';
import { findUnknownPath, unknownPaths } from '../api/unknown-fields';
import { orderOf } from './checks';
import type { Counts, Datasets, UncheckedRecord } from './dataset';
import { closestName, describeError, normalizedName, pathsOf } from './expected';
import { type Faults, type ToldFault } from './faults';
import type { Given, Place } from './write-statements';
import { SHOWN } from './tables';

/** A record that has been checked, and where it stood. */
export type Placed = Place & { record: object };

/** Checks records one by one. */
export class RecordReader {
  /** records that are good */
  readonly counts: Counts;
  /** sections with others */
  readonly faulty = new Set<string>();
  private readonly places: Counts;

  constructor(
    private readonly datasets: Datasets,
    private readonly given: Given,
    private readonly faults: Faults,
  ) {
    this.counts = datasets.noRecords();
    this.places = datasets.noRecords();
  }

  /** The record; undefined where it is at fault. */
  checked({ section, record: unchecked, line, told: before }: UncheckedRecord): Placed | undefined {
    const at = { section, place: this.places[section] ?? 0, line };
    this.places[section] = at.place + 1;
    if (!isObject(unchecked)) {
      const says = 'is no object; wanted one with the fields of a record';
      return this.refuse(at, [{ ...this.placed(at, ''), value: unchecked ?? null, wanted: 'an object', says }]);
    }
    const { record: type } = this.datasets.of(section);
    const record = toInstance(type, unchecked);
    const hasUnknown = !this.given.isPart && findUnknownPath(unchecked, record) !== undefined;
    const unknown = hasUnknown ? this.unknown(at, unchecked, record) : [];
    const counts = (path: string): boolean => this.given.has(path) && !before?.some((bad) => path.startsWith(bad));
    const found: ToldFault[] = unknown;
    if (firstInvalidPath(record, counts) !== undefined) {
      for (const error of fieldErrors(record)) {
        if (!counts(error.path)) continue;
        found.push({ ...this.placed(at, error.path), value: error.value ?? null, ...describeError(error) });
      }
    }
    if (found.length > 0 || before) return this.refuse(at, found);
    this.counts[section] = (this.counts[section] ?? 0) + 1;
    if (!this.given.isPart) this.keepShown(section, record, unchecked);
    return { ...at, record };
  }

  private placed = (at: Place, path: string) => ({
    order: orderOf(this.datasets, at),
    ...this.given.faultAt(at, path),
  });

  private refuse({ section }: Place, faults: ToldFault[]): undefined {
    this.faulty.add(section);
    this.faults.add(...faults);
  }

  /** What a record has that is no field, and is not shown by GET either. */
  private unknown(at: Place, unchecked: object, record: object): ToldFault[] {
    const { shown } = this.datasets.of(at.section);
    const all = [...unknownPaths(unchecked, record)];
    const paths = all.filter((path) => !shown?.fields.includes(path.replace(/\[\d+\]/g, '')));
    if (paths.length === 0) return [];
    const names = this.namesOf(at.section);
    return paths.map((path) => {
      const field = path.includes('[') ? undefined : (names.get(normalizedName(path)) ?? closestName(path, names));
      const says = `not a field${field ? `; did you mean ${field}?` : ''}`;
      return { ...this.placed(at, path), value: null, wanted: field ?? `a field of ${at.section}`, says };
    });
  }

  private readonly names = new Map<string, Map<string, string>>();

  /** The places of fields, by all their plain names. */
  private namesOf(section: string): Map<string, string> {
    const known = this.names.get(section);
    if (known) return known;
    const { record, csv, places = {} } = this.datasets.of(section);
    const names = new Map<string, string>();
    for (const [place, aliases] of Object.entries(csv?.aliases ?? {})) {
      for (const alias of aliases) names.set(normalizedName(alias), place);
    }
    for (const [property, place] of Object.entries(places)) names.set(normalizedName(property), place);
    for (const path of pathsOf(record)) names.set(normalizedName(path), path);
    this.names.set(section, names);
    return names;
  }

  /** What only GET shows is compared when all is written. */
  private keepShown(section: string, record: object, unchecked: object): void {
    const { shown } = this.datasets.of(section);
    const given = unchecked as Record<string, unknown>;
    const said: Record<string, unknown> = {};
    for (const field of shown?.fields ?? []) {
      const dot = field.indexOf('.');
      const list = dot < 0 ? field : field.slice(0, dot);
      const value = given[list];
      const isSaid =
        dot < 0
          ? value !== undefined
          : Array.isArray(value) && value.some((entry) => isObject(entry) && field.slice(dot + 1) in entry);
      if (isSaid) said[list] = value;
    }
    if (Object.keys(said).length > 0) Object.assign(record, { [SHOWN]: said });
  }
}
