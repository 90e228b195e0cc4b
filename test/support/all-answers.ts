import type { ApiClient } from './client';

const LISTS = ['events', 'leads', 'leadActivityEvents', 'activations', 'tagGroups', 'industryEvents'];

/** What a client gets from every GET, as text: all pages of all lists, every single record, and some searches. */
export async function allAnswers(api: ApiClient): Promise<Map<string, string>> {
  const answers = new Map<string, string>();
  const read = async (path: string): Promise<{ results: Record<string, { id: string | number }[]> }> => {
    const { text, body } = await api.get(path).expect(200);
    answers.set(path, text);
    return body as { results: Record<string, { id: string | number }[]> };
  };
  const list = async (path: string, name: string) => {
    const items: { id: string | number }[] = [];
    for (let offset = 0, page = 5; page === 5; offset++) {
      const found = (await read(`${path}?limit=5&offset=${offset}`)).results[name] ?? [];
      items.push(...found);
      page = found.length;
    }
    return items;
  };
  for (const name of LISTS) {
    for (const { id } of await list(`/${name}`, name)) {
      await read(`/${name}/${id}`);
      if (name === 'leads') await read(`/leadActivityEvents?leadId=${id}`);
      if (name !== 'events') continue;
      await list(`/events/${id}/leads`, 'eventLeads');
      await list(`/events/${id}/users`, 'users');
    }
  }
  await read('/industryEvents/bookmarks');
  await read('/industryEvents?q=wroclaw%20or%20pumps%20-nothing');
  await read('/leadActivityEvents?eventType=NOTE');
  return answers;
}
