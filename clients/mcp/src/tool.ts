import type { ToolAnnotations } from '@modelcontextprotocol/server';
import type { CallOptions, Lanyard } from '../../typescript/src';
import type { Scope } from './key-scope';
import type { Answer } from './result';
import { createCheck, type InputError, type ObjectSchema } from './schemas';

export interface ToolDefinition<Input> {
  name: string;
  title: string;
  description: string;
  input: ObjectSchema;
  /** What a key of scope `capture` may do with it, in place of the description and the input. */
  forCapture?: { description: string; input?: ObjectSchema };
  /** The scopes of keys whose requests can succeed. */
  scopes: readonly Scope[];
  annotations: ToolAnnotations;
  /** Whether it is listed only if deleting is allowed. */
  isDelete?: boolean;
  /** @throws LanyardError, or the reason of the signal */
  run(lanyard: Lanyard, input: Input, options: ToolOptions): Promise<Answer>;
}

export interface ToolOptions extends CallOptions {
  /** Whether the key may only capture leads. */
  isCapture: boolean;
}

/** What a tool did not do, and why, in sentences for an agent. */
export class ToolError extends Error {}

export interface Tool extends Omit<ToolDefinition<unknown>, 'run'> {
  /** What is wrong with an input; undefined if nothing is. */
  check(input: unknown): InputError | undefined;
  /** @param input one that `check` accepts */
  run(lanyard: Lanyard, input: unknown, options: ToolOptions): Promise<Answer>;
}

/** A tool whose input has the type that its schema describes. */
export function defineTool<Input>({ run, ...definition }: ToolDefinition<Input>): Tool {
  return {
    ...definition,
    check: createCheck(definition.input),
    run: (lanyard, input, options) => run(lanyard, input as Input, options),
  };
}

export const READS: ToolAnnotations = { readOnlyHint: true, openWorldHint: false };

/** Adds what was not there; the same call again adds it again. */
export const CREATES: ToolAnnotations = annotate({ destructiveHint: false, idempotentHint: false });

/** Changes nothing but a link or a flag, which the same call again leaves as it is. */
export const LINKS: ToolAnnotations = annotate({ destructiveHint: false, idempotentHint: true });

/** Replaces or removes stored values; the same call again changes nothing more. */
export const REPLACES: ToolAnnotations = annotate({ destructiveHint: true, idempotentHint: true });

/** Replaces stored values, and may create. */
export const REPLACES_OR_CREATES: ToolAnnotations = annotate({ destructiveHint: true, idempotentHint: false });

function annotate(hints: Pick<ToolAnnotations, 'destructiveHint' | 'idempotentHint'>): ToolAnnotations {
  return { readOnlyHint: false, ...hints, openWorldHint: false };
}

export interface DryRunInput {
  dryRun?: boolean;
}

/** What a write did, or would do. */
export const written = (sentence: string, dryRun: boolean | undefined): string =>
  dryRun ? `Dry run, nothing is stored. Otherwise: ${sentence} IDs and times are provisional.` : sentence;
