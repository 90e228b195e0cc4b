/** Lines of the first response that fit into the picture. */
const RESPONSE_LINES = 13;

/**
 * What the terminal in README.md's pictures shows, which is the same wherever and whenever it is made: without the key, and
 * with the default directory and port.
 * @param {string} output of a first start, up to the request that it proposes
 * @param {string} dataDir
 * @param {unknown} response to that request
 */
export function firstStartText(output, dataDir, response) {
  const lines = output
    .trimEnd()
    .replaceAll(dataDir, '.data')
    .replaceAll(/localhost:\d+/g, 'localhost:3000')
    .replace(/lan_\w+/, 'lan_…')
    .split('\n')
    // Most readers are not root, who gets this line in addition.
    .filter((line) => !line.startsWith('PostgreSQL cannot run as root'));
  const body = JSON.stringify(response, null, 2).split('\n').slice(0, RESPONSE_LINES);
  return ['$ npm ci && npm start', ...lines, '', '$ curl … | jq', ...body, '…', ''].join('\n');
}
