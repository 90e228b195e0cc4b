import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type Server as HttpServer } from 'node:http';
import { connect, type Server } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';

/**
 * A proxy that leads hosts of the internet to servers of this proof, so that workflows run with the addresses that they have.
 * It has a certificate of its own for them, which a client must trust.
 */
export class PublicHosts {
  readonly certificate: string;
  readonly proxy: Server;

  /** @param hosts The server of each host. */
  constructor(directory: string, hosts: Record<string, HttpServer>) {
    const [key, certificate] = [join(directory, 'hosts.key'), join(directory, 'hosts.pem')];
    const names = Object.keys(hosts).map((host) => `DNS:${host}`);
    const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=proof'];
    const files = ['-keyout', key, '-out', certificate];
    execFileSync('openssl', [...request, '-addext', `subjectAltName=${names.join(',')}`, ...files], {
      stdio: 'ignore',
    });
    this.certificate = certificate;
    const secure = Object.fromEntries(
      Object.entries(hosts).map(([host, server]) => {
        const options = { key: readFileSync(key), cert: readFileSync(certificate) };
        const decrypting = createTlsServer(options, (socket) => void server.emit('connection', socket));
        decrypting.listen(0, '127.0.0.1').unref();
        return [host, decrypting];
      }),
    );
    this.proxy = createServer((_, response) => void response.writeHead(502).end());
    this.proxy.on('connect', ({ url }: { url?: string }, socket) => {
      const server = secure[url?.split(':')[0] ?? ''];
      const address = server?.address();
      if (!address || typeof address === 'string') return void socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
      const upstream = connect(address.port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
        upstream.pipe(socket).pipe(upstream);
      });
      upstream.on('error', () => socket.destroy());
      socket.on('error', () => upstream.destroy());
    });
  }
}
