/** The conditions by which leads are found. Lists, batches and imports share those of e-mail address and remote id. */

/**
 * The condition that a lead belongs to organization `$1`. It is written so that no index can serve it. The index of the
 * searched value begins with the organization, too, and is the one that must be used.
 */
export const isOwn = (lead: string): string => `(${lead}.organization_id = $1) is true`;

/**
 * The condition that a lead has an e-mail address, ignoring case.
 * @param email SQL of the address
 */
export const hasEmail = (lead: string, email: string): string =>
  `${lead}.email is not null and email_key(${lead}.organization_id, ${lead}.email) = email_key($1, ${email})`;

/**
 * The condition that a lead has an ID in an external system.
 * @param integrationType SQL of the system
 * @param id SQL of the ID
 */
export const hasRemoteId = (lead: string, integrationType: string, id: string): string =>
  `${lead}.remote_ids <> '[]' and
    remote_id_keys(${lead}.organization_id, ${lead}.remote_ids) @> array[remote_id_key($1, ${integrationType}, ${id})]`;

/**
 * The condition that a lead is associated with an event.
 * @param eventId SQL of the ID
 */
export const isAtEvent = (lead: string, eventId: string): string =>
  `${lead}.id in (select e.lead_id from event_leads e where e.organization_id = $1 and e.event_id = ${eventId})`;

/**
 * SQL of the ID of the first lead, in the order of the list, that meets a condition. The offset makes PostgreSQL use the
 * index of the condition, instead of testing the leads one by one in that order.
 */
export const firstMatching = (condition: (lead: string) => string): string =>
  `select id from (
      select l.id, l.position from leads l where ${isOwn('l')} and ${condition('l')} offset 0
    ) l order by position limit 1`;
