/** Entities of which an organization may have very many rows. An entity that refers to another one comes before it. */
export class OrganizationData {
  constructor(readonly entities: readonly (new () => object)[]) {}
}
