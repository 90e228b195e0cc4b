/** The entities of which an organization may have very many rows. Entities that refer to others come first. */
export class OrganizationData {
  constructor(readonly entities: readonly (new () => object)[]) {}
}
