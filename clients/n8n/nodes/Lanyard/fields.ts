import type { INodeProperties } from './n8n-workflow';

/** The form of the node: what it can do with which record, and the fields of each. */

const LEAD_OPERATION: INodeProperties = {
  displayName: 'Operation',
  name: 'operation',
  type: 'options',
  noDataExpression: true,
  displayOptions: { show: { resource: ['lead'] } },
  options: [
    {
      name: 'Create or Update',
      value: 'upsert',
      description: 'Create a new record, or update the current one if it already exists (upsert)',
      action: 'Create or update leads',
    },
    { name: 'Delete', value: 'delete', action: 'Delete a lead' },
    {
      name: 'Find',
      value: 'find',
      description: 'Find leads by e-mail address or CRM ID',
      action: 'Find leads',
    },
    { name: 'Get', value: 'get', action: 'Get a lead' },
    { name: 'Get Many', value: 'getMany', action: 'Get many leads' },
    {
      name: 'Set CRM ID',
      value: 'setRemoteId',
      description: 'Store the ID that a CRM has for the lead',
      action: 'Set the CRM ID of a lead',
    },
    { name: 'Update', value: 'update', action: 'Update a lead' },
  ],
  default: 'upsert',
};

const EVENT_OPERATION: INodeProperties = {
  displayName: 'Operation',
  name: 'operation',
  type: 'options',
  noDataExpression: true,
  displayOptions: { show: { resource: ['event'] } },
  options: [
    {
      name: 'Check In',
      value: 'checkIn',
      description: 'Register leads for an event or check them in',
      action: 'Check leads in at an event',
    },
    { name: 'Get Many', value: 'getMany', action: 'Get many events' },
  ],
  default: 'getMany',
};

const CHANGES_OPERATION: INodeProperties = {
  displayName: 'Operation',
  name: 'operation',
  type: 'options',
  noDataExpression: true,
  displayOptions: { show: { resource: ['changes'] } },
  options: [{ name: 'Get Since', value: 'get', action: 'Get the changes since a cursor' }],
  default: 'get',
};

export const INTEGRATIONS = ['HUB_SPOT', 'SALES_FORCE', 'PIPE_DRIVE', 'ZOHO', 'MARKETO', 'ELOQUA', 'PARDOT', 'WEBHOOK'];

const choices = (values: string[]) => values.map((value) => ({ name: value, value }));

/** A field that is shown for some operations of a resource. */
const shownFor = (resource: string, operations: string[], property: INodeProperties): INodeProperties => ({
  ...property,
  displayOptions: { show: { resource: [resource], operation: operations } },
});

const LEAD_ID: INodeProperties = {
  displayName: 'Lead ID',
  name: 'leadId',
  type: 'string',
  default: '',
  required: true,
};
const LIMIT: INodeProperties = {
  displayName: 'Limit',
  name: 'limit',
  type: 'number',
  typeOptions: { minValue: 1 },
  default: 50,
  description: 'Max number of results to return',
};
const INTEGRATION: INodeProperties = {
  displayName: 'CRM',
  name: 'integrationType',
  type: 'options',
  options: choices(INTEGRATIONS),
  default: 'HUB_SPOT',
  description: 'The system that the ID is of',
};
const REMOTE_ID: INodeProperties = {
  displayName: 'CRM ID',
  name: 'remoteId',
  type: 'string',
  default: '',
  description: 'The ID that the CRM has for the lead',
};
const LEAD_FIELDS: INodeProperties = {
  displayName: 'Fields',
  name: 'fields',
  type: 'json',
  default: '={{ $json }}',
  description:
    'The fields of the lead as the API has them, such as firstName, lastName, companyName, email, createdByEmail. By ' +
    'default all of the input item.',
};

const LEAD: INodeProperties[] = [
  shownFor('lead', ['upsert'], {
    displayName: 'Match By',
    name: 'matchBy',
    type: 'options',
    options: [
      { name: 'E-Mail Address', value: 'email' },
      { name: 'CRM ID', value: 'remoteId' },
      { name: 'Nothing: Always Create', value: 'none' },
    ],
    default: 'email',
    description: 'What finds the lead that is updated. Items are sent in batches of up to 200, each stored as a whole.',
  }),
  shownFor('lead', ['upsert', 'update'], LEAD_FIELDS),
  shownFor('lead', ['get', 'update', 'setRemoteId', 'delete'], LEAD_ID),
  shownFor('lead', ['find'], {
    displayName: 'E-Mail Address',
    name: 'email',
    type: 'string',
    placeholder: 'name@email.com',
    default: '',
    description: 'Leads with this address, ignoring letter case',
  }),
  shownFor('lead', ['find', 'setRemoteId'], REMOTE_ID),
  shownFor('lead', ['find', 'setRemoteId'], INTEGRATION),
  shownFor('lead', ['find', 'getMany'], LIMIT),
];

const EVENT: INodeProperties[] = [
  shownFor('event', ['getMany'], LIMIT),
  shownFor('event', ['checkIn'], {
    displayName: 'Event ID',
    name: 'eventId',
    type: 'number',
    default: 0,
    required: true,
    description: 'Items of one event are sent together',
  }),
  shownFor('event', ['checkIn'], LEAD_ID),
  shownFor('event', ['checkIn'], {
    displayName: 'Registered',
    name: 'registered',
    type: 'boolean',
    default: true,
    description: 'Whether the lead is registered for the event; what is stored is overwritten',
  }),
  shownFor('event', ['checkIn'], {
    displayName: 'Checked In',
    name: 'checkedIn',
    type: 'boolean',
    default: true,
    description: 'Whether the lead has come; what is stored is overwritten',
  }),
];

const CHANGES: INodeProperties[] = [
  shownFor('changes', ['get'], {
    displayName: 'Cursor',
    name: 'cursor',
    type: 'string',
    default: '',
    description: 'The cursor of the last page. Without it, a snapshot of all records begins.',
  }),
  shownFor('changes', ['get'], {
    displayName: 'Records',
    name: 'resources',
    type: 'string',
    default: 'leads',
    description: 'Names separated by commas. A cursor keeps those that it began with, so leave it as it was.',
  }),
];

export const PROPERTIES: INodeProperties[] = [
  {
    displayName: 'Resource',
    name: 'resource',
    type: 'options',
    noDataExpression: true,
    options: [
      { name: 'Lead', value: 'lead' },
      { name: 'Event', value: 'event' },
      { name: 'Change', value: 'changes' },
    ],
    default: 'lead',
  },
  LEAD_OPERATION,
  EVENT_OPERATION,
  CHANGES_OPERATION,
  ...LEAD,
  ...EVENT,
  ...CHANGES,
  {
    displayName: 'Options',
    name: 'options',
    type: 'collection',
    default: {},
    placeholder: 'Add option',
    options: [
      {
        displayName: 'Longest Wait in Seconds',
        name: 'maxWait',
        type: 'number',
        default: 120,
        description: 'How long a request may wait in all when the server says Retry-After (409, 429 and 503)',
      },
      {
        displayName: 'Idempotency Key',
        name: 'idempotencyKey',
        type: 'string',
        default: '',
        description:
          'Makes a repeated create or update have one effect within a day. It must be the same when the same form is sent ' +
          'again, such as the ID of its response, and another one for each item. The ID of the execution changes with each run.',
      },
    ],
  },
];
