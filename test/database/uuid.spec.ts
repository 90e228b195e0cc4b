import { uuidV5, uuidV7 } from '../../src/data/database/uuid';

/** The vectors of RFC 9562, appendix A, and the namespace of its names in DNS. */
describe('the uuids that are made here', () => {
  it('of version 7 have the moment first', () => {
    const rest = Buffer.from('00000000000000cc0318c4dc0c0c07398f'.slice(2), 'hex');
    rest.writeUInt16BE(0x0cc3, 6);
    expect(uuidV7(Date.parse('2022-02-22T19:22:22.000Z'), rest)).toBe('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
    expect(uuidV7()).not.toBe(uuidV7());
  });

  it('of version 5 are the same for the same name', () => {
    const dns = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
    expect(uuidV5('www.example.com', dns)).toBe('2ed6657d-e927-568b-95e1-2665a8aea6a2');
  });
});
