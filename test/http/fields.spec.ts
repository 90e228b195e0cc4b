import { plainToInstance, Type } from 'class-transformer';
import { IsString, ValidateNested } from 'class-validator';
import { field, schemasOf, toInstance } from '../../src/fields/field-rules';
import {
  BooleanField,
  DateTime,
  DateTimeInput,
  Day,
  Email,
  EmailList,
  Int32,
  ListOf,
  ObjectOf,
  OneOf,
  PreciseDateTime,
  Text,
  TimeOfDay,
  Uuid,
  UuidList,
} from '../../src/fields/fields';
import { email } from '../../src/fields/value-schemas';
import { findUnknownPath, unknownPaths } from '../../src/fields/unknown-fields';

class Kinds {
  @Uuid() uuid: string;
  @UuidList() uuids: string[];
  @Day() date: string;
  @DateTime() dateTime: string;
  @DateTimeInput() dateTimeInput: string;
  @PreciseDateTime() preciseDateTime: string;
  @Email() email: string;
  @EmailList() emails: string[];
  @TimeOfDay() time: string;
  @Text() text: string;
  @OneOf(['a'], 'Letter') letter: string;
  @BooleanField() flag: boolean;
  @field({ schema: email(255), check: () => undefined }, {}) looksLikeEmail: string;
}

describe('the kind of a field', () => {
  it('is what its decorator says, whatever its schema looks like', () => {
    const kinds = Object.fromEntries([...schemasOf(Kinds)].map(([name, { kind }]) => [name, kind]));
    expect(kinds).toEqual({
      uuid: 'uuid',
      uuids: 'uuid',
      date: 'date',
      dateTime: 'date-time',
      dateTimeInput: 'date-time',
      preciseDateTime: 'date-time',
      email: 'email',
      emails: 'email',
      time: 'time',
      text: 'text',
      letter: 'text',
      flag: 'text',
      looksLikeEmail: 'text',
    });
  });
});

class Entry {
  @Text() name: string;
}
class Wide extends Entry {
  @Int32() width: number;
}
class Whole {
  @Text() title: string;
  @ObjectOf(() => Entry) one: Entry;
  @ListOf((parent) => ((parent as Partial<Whole> | undefined)?.title === 'wide' ? Wide : Entry)) many: Entry[];
}

class PlainEntry {
  @IsString() name: string;
}
class PlainWhole {
  @IsString() title: string;
  @ValidateNested() @Type(() => PlainEntry) one: PlainEntry;
  @ValidateNested({ each: true }) @Type(() => PlainEntry) many: PlainEntry[];
}

describe('the unknown fields of an object', () => {
  const sent = {
    first: 1,
    title: 'x',
    one: { name: 'a', width: 1 },
    many: [{ name: 'b' }, 5, { title: 'c', name: 'd', inner: { deep: 1 } }],
    last: { name: 1 },
  };
  const paths = ['first', 'one.width', 'many[2].title', 'many[2].inner', 'last'];

  it.each([
    ['fields of ours', () => toInstance(Whole, sent)],
    ['class-validator alone', () => plainToInstance(PlainWhole, sent)],
  ])('are named by their paths, in the order of the object: a class of %s', (_, convert) => {
    const instance = convert();
    expect([...unknownPaths(sent, instance)]).toEqual(paths);
    expect(findUnknownPath(sent, instance)).toBe('first');
  });

  it('depend on the class that an entry was made of', () => {
    const wide = { title: 'wide', many: [{ name: 'b', width: 1 }] };
    expect(findUnknownPath(wide, toInstance(Whole, wide))).toBeUndefined();
    const narrow = { ...wide, title: 'narrow' };
    expect(findUnknownPath(narrow, toInstance(Whole, narrow))).toBe('many[0].width');
  });

  it('are none where no class says what there is', () => {
    expect(findUnknownPath({ anything: 1 }, { anything: 1 })).toBeUndefined();
    expect(findUnknownPath({ anything: 1 }, undefined)).toBeUndefined();
  });
});
