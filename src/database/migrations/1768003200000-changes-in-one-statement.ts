import { MigrationInterface, QueryRunner } from 'typeorm';

/** What one statement that does several things, and two transactions at once, could still do to lists and documents. */
export class ChangesInOneStatement1768003200000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      -- Before the rendering, which is a trigger of each row too.
      create function hold_tag_option() returns trigger language plpgsql as $$
      begin
        perform from tag_options where organization_id = new.organization_id and id = new.tag_option_id for share;
        return null;
      end $$;
      drop trigger lead_tags_hold_updated on lead_tags;
      create trigger lead_tags_hold_updated after update on lead_tags
        for each row execute function hold_tag_option();

      create or replace function render_leads_of_row() returns trigger language plpgsql as $$
      begin
        if old.organization_id = new.organization_id then
          perform render_leads(new.organization_id, array[old.lead_id, new.lead_id]);
        else
          perform render_leads(old.organization_id, array[old.lead_id]);
          perform render_leads(new.organization_id, array[new.lead_id]);
        end if;
        return null;
      end $$;

      -- An event's leads are rendered before any list is locked. That takes long where they are many; and an import holds
      -- leads before it locks lists.
      create function leave_leads() returns trigger language plpgsql as $$
      begin
        delete from lead_activations l using activations a
          where a.organization_id = old.organization_id and a.event_id = old.id
            and l.organization_id = a.organization_id and l.activation_id = a.id;
        return old;
      end $$;
      create trigger events_leave_leads before delete on events for each row execute function leave_leads();
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`
      create or replace function render_leads_of_row() returns trigger language plpgsql as $$
      begin
        perform render_leads(old.organization_id, array[old.lead_id, new.lead_id]);
        return null;
      end $$;
      drop function leave_leads(), hold_tag_option() cascade; -- with their triggers
      create trigger lead_tags_hold_updated after update on lead_tags
        referencing new table as changed for each statement execute function hold_tag_options();
    `);
  }
}
