import type { ICredentialType, INodeProperties } from '../nodes/Lanyard/n8n-workflow';

/** The address of a Lanyard, and an API key of it. */
export class LanyardApi implements ICredentialType {
  name = 'lanyardApi';
  displayName = 'Lanyard API';
  icon = 'file:../nodes/Lanyard/lanyard.svg';
  properties: INodeProperties[] = [
    {
      displayName: 'Base URL',
      name: 'baseUrl',
      type: 'string',
      default: '',
      required: true,
      placeholder: 'https://lanyard.example.com/api/v0',
      description: 'The address of the API, with /api/v0',
    },
    {
      displayName: 'API Key',
      name: 'apiKey',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      required: true,
      description: 'A key of scope "read" is enough for triggers and reads; writes need scope "all"',
    },
  ];
  authenticate: ICredentialType['authenticate'] = {
    type: 'generic',
    properties: { headers: { 'x-api-key': '={{$credentials.apiKey}}' } },
  };
  test = { request: { baseURL: '={{$credentials.baseUrl}}', url: '/events', qs: { limit: 1 } } };
}
