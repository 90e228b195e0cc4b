/**
 * What every embedded PostgreSQL runs with. Rows must not reach its log: statements, parameters and details are left
 * out, and every ERROR, whose text may quote a value.
 */
export const SETTINGS: Readonly<Record<string, string>> = {
  log_line_prefix: '%m [%p] ',
  log_destination: 'stderr',
  logging_collector: 'off',
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
  log_checkpoints: 'off',
  log_timezone: 'UTC',
  lc_messages: 'C',
  timezone: 'UTC',
  listen_addresses: '127.0.0.1',
  // A socket's path may not exceed 107 bytes.
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '128MB',
};
