import { ApiSchema, IntersectionType, OmitType, PickType } from '@nestjs/swagger';
import {
  Email,
  MAX_LENGTH,
  ListOf,
  optionalNullable,
  nullable,
  ObjectOf,
  OneOf,
  optional,
  Text,
} from '../../fields/fields';
import { field } from '../../fields/field-rules';
import { invalidTextReason } from '../../fields/invalid-reason';
import { PageQuery } from '../../fields/page-query';
import { QueryBoolean, QueryDateTime, QueryNumericId, QueryOneOf, QueryText } from '../../fields/parameters';
import { text } from '../../fields/value-schemas';
import { isStorableText, isWithinLength, MAX_HEAD_BYTES } from '../../fields/text';
import { LEAD_FIELD_DOCS, IntegrationType, MAX_PHONE_NUMBERS, PhoneNumber, RemoteId } from './lead.response';

const CREATED_BY = {
  description: 'E-mail address of the user who captures the lead. Need not belong to a user.',
  example: 'booth@example.com',
};

@ApiSchema({ description: 'A new lead.' })
export class LeadCreateV0Input {
  @Email(CREATED_BY) createdByEmail: string;
  @Text(LEAD_FIELD_DOCS.firstName) firstName: string;
  @Text(LEAD_FIELD_DOCS.lastName) lastName: string;
  @Text(LEAD_FIELD_DOCS.companyName) companyName: string;
  @Email({ ...optional, ...LEAD_FIELD_DOCS.email }) email?: string;
  @ListOf(() => PhoneNumber, { ...optional, max: MAX_PHONE_NUMBERS, description: 'Phone numbers.' })
  phoneNumbers?: PhoneNumber[];
}

@ApiSchema({ description: 'The identifier of a lead in one external system, or null to clear it.' })
export class RemoteIdInput {
  @Text({ ...nullable, blank: false, ...LEAD_FIELD_DOCS.remoteId, description: 'Identifier. Null clears it.' })
  id: string | null;
  @OneOf(IntegrationType, 'IntegrationType', LEAD_FIELD_DOCS.integrationType) integrationType: IntegrationType;
}

/** A field of a patch. It has no example, so that the example of a patch does not change who the lead is. */
const patched = (docs: { max?: number; description: string }) => ({
  ...optionalNullable,
  ...docs,
  example: undefined,
});

@ApiSchema({ description: 'Updates of a lead. Null clears a field; omitted fields keep their values.' })
export class LeadPatchV0Input {
  @Text(patched(LEAD_FIELD_DOCS.firstName)) firstName?: string | null;
  @Text(patched(LEAD_FIELD_DOCS.lastName)) lastName?: string | null;
  @Email(patched(LEAD_FIELD_DOCS.email)) email?: string | null;
  @Text(patched(LEAD_FIELD_DOCS.address)) address?: string | null;
  @Text(patched(LEAD_FIELD_DOCS.linkedin)) linkedin?: string | null;
  @Text(patched(LEAD_FIELD_DOCS.facebook)) facebook?: string | null;
  @Text(patched(LEAD_FIELD_DOCS.twitter)) twitter?: string | null;
  @Text({
    ...optionalNullable,
    max: MAX_LENGTH.url,
    description: 'Profile picture. Stored, but not returned in v0.',
  })
  profilePicture?: string | null;
  @Text(patched(LEAD_FIELD_DOCS.description)) description?: string | null;
  @Text({ ...optionalNullable, ...LEAD_FIELD_DOCS.jobTitle }) jobTitle?: string | null;
  @ListOf(() => PhoneNumber, {
    ...optionalNullable,
    max: MAX_PHONE_NUMBERS,
    description: 'Replaces all numbers entered by users. Null or an empty array removes them.',
  })
  phoneNumbers?: PhoneNumber[] | null;
  @ObjectOf(() => RemoteIdInput, optional) remoteId?: RemoteIdInput;
}

const FILTER = { max: MAX_LENGTH.name, blank: false };

/** Maximum characters of a `q`, without the blanks around it. */
const MAX_SEARCH_LENGTH = 100;

const SEARCH =
  'Limits the list to leads in which every word of `q` is the beginning of a word of first name, last name, company ' +
  'name or e-mail address, in any order, regardless of case and accents: `ada ro`, `cobalt`. Blanks part the words of ' +
  "`q`; the words of a lead are its runs of letters and digits. A word with other characters in it, such as `o'neill`, " +
  '`at&t` or `rowe@example`, is found as it stands. At most 100 characters; each word needs two letters or digits, ' +
  'or one of Han, Kana or Hangul. Blank text counts as omitted.';

export class LeadsQuery extends PageQuery {
  @QueryText(
    'Limits the list to leads with this e-mail address, ignoring letter case. A blank outside quotes counts as `+`, ' +
      'which form encoding turns into one.',
    FILTER,
  )
  email?: string;
  @QueryText('Limits the list to leads with this remote id in the system given by `integrationType`.', FILTER)
  remoteId?: string;
  @QueryOneOf(
    IntegrationType,
    'IntegrationType',
    'External system of `remoteId`. Required with `remoteId`, and invalid without it.',
  )
  integrationType?: IntegrationType;
  @field(
    {
      kind: 'text',
      schema: text(MAX_HEAD_BYTES, true),
      check: (q) => {
        const isValid = isStorableText(q) && isWithinLength(q.trim(), MAX_SEARCH_LENGTH);
        return isValid ? undefined : invalidTextReason(q, MAX_SEARCH_LENGTH);
      },
    },
    { ...optional, example: undefined, description: SEARCH },
  )
  q?: string;
  @QueryBoolean('Limits the list to leads with an e-mail address (`true`), or without one (`false`).')
  hasEmail?: boolean;
  @QueryDateTime('Limits the list to leads whose `createdAt` is not before this date-time with a time zone.')
  createdSince?: string;
  @QueryNumericId('Limits the list to leads that are associated with this event.')
  eventId?: number;
}

/** How the entries of a batch find the leads that they update. */
export const MatchBy = ['email', 'remoteId', 'none'] as const;
export type MatchBy = (typeof MatchBy)[number];

/** Maximum number of entries per batch. It keeps the statement well below its timeout and the body below its limit. */
export const MAX_BATCHED_LEADS = 200;

/** The fields that a new lead must have, in the order in which they are checked. */
export const REQUIRED_FIELDS = ['createdByEmail', 'firstName', 'lastName', 'companyName'] as const;

const unlessCreated = (docs: { description: string }) => ({
  ...optionalNullable,
  ...docs,
  description: `${docs.description} Required when the entry creates.`,
});

class CreationFields {
  @Email(unlessCreated(CREATED_BY)) createdByEmail?: string | null;
  @Text(unlessCreated(LEAD_FIELD_DOCS.firstName)) firstName?: string | null;
  @Text(unlessCreated(LEAD_FIELD_DOCS.lastName)) lastName?: string | null;
  @Text({ ...unlessCreated(LEAD_FIELD_DOCS.companyName), blank: false }) companyName?: string | null;
}

class WithEmail {
  @Email(LEAD_FIELD_DOCS.email) email: string;
}

class WithRemoteId {
  @ObjectOf(() => RemoteId) remoteId: RemoteId;
}

@ApiSchema({
  description:
    'A lead of a batch. In an update, null clears a field, omitted fields keep their values, and ' +
    '`createdByEmail` and `companyName` are ignored.',
})
export class LeadUpsertV0Input extends IntersectionType(
  CreationFields,
  OmitType(LeadPatchV0Input, ['firstName', 'lastName']),
) {}

class EmailMatchedLead extends IntersectionType(
  CreationFields,
  WithEmail,
  OmitType(LeadPatchV0Input, ['firstName', 'lastName', 'email']),
) {}

class RemoteIdMatchedLead extends IntersectionType(
  CreationFields,
  OmitType(LeadPatchV0Input, ['firstName', 'lastName', 'remoteId']),
  WithRemoteId,
) {}

class UnmatchedLead extends IntersectionType(
  PickType(LeadCreateV0Input, REQUIRED_FIELDS),
  OmitType(LeadPatchV0Input, ['firstName', 'lastName']),
) {}

/** The class of an entry for each `matchBy` of a batch. */
const ENTRIES = new Map<unknown, new () => object>([
  ['email', EmailMatchedLead],
  ['remoteId', RemoteIdMatchedLead],
  ['none', UnmatchedLead],
]);

@ApiSchema({ description: 'Leads to create or update.' })
export class LeadBatchV0Input {
  @OneOf(MatchBy, 'MatchBy', {
    description: 'Field used to find existing leads. With `none`, every entry creates a lead.',
    example: 'remoteId',
  })
  matchBy: MatchBy;
  @ListOf((batch?: Partial<LeadBatchV0Input>) => ENTRIES.get(batch?.matchBy) ?? LeadUpsertV0Input, {
    min: 1,
    max: MAX_BATCHED_LEADS,
    description: 'Leads to write. Each must have the field selected by `matchBy`, with distinct values.',
    example: [
      {
        createdByEmail: 'sync@example.com',
        firstName: LEAD_FIELD_DOCS.firstName.example,
        lastName: LEAD_FIELD_DOCS.lastName.example,
        companyName: LEAD_FIELD_DOCS.companyName.example,
        email: LEAD_FIELD_DOCS.email.example,
        remoteId: { id: LEAD_FIELD_DOCS.remoteId.example, integrationType: LEAD_FIELD_DOCS.integrationType.example },
      },
    ],
  })
  leads: LeadUpsertV0Input[];
}
