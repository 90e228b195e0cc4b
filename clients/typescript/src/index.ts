export type { Change, Changes, ChangesOptions } from './changes';
export { Lanyard } from './lanyard';
export type { CallOptions, LanyardOptions, LeadFilter, UpsertOptions, WriteOptions } from './lanyard';
export { LanyardError } from './lanyard-error';
export type { FaultReason } from './lanyard-error';
export type { ReplicaEntry, ReplicaOptions, ReplicaStore } from './replica';
export type { Item, ListPath, Results } from './operations';
export type * from './schema';
