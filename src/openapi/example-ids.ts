/** The IDs of records of the demo that the API reference shows as examples. Resources name each other's records. */
export const EXAMPLE_LEAD_ID = '448e55d6-0a6e-5e30-81d1-19527287a0c9';
export const EXAMPLE_ACTIVATION_ID = '0459f730-1f1b-503e-8775-ec140ffbfe97';
export const EXAMPLE_LEAD_ACTIVITY_EVENT_ID = 'c25d7460-b07b-5a65-8095-0b1e43eb27b5';
export const EXAMPLE_TAG_GROUP_ID = 'f61c900a-31a6-545c-a067-c8bc2c052ee2';
export const EXAMPLE_TAG_OPTION_ID = '21954c56-16c6-5cbc-bb39-283a0096aeaf';
export const EXAMPLE_INDUSTRY_EVENT_ID = '4ca6e1ac-3e8a-5704-9410-9e16050033fe';
