import { Column, Entity, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { RefersTo } from '../database/columns';

@Entity('users')
@Unique('users_organization_id_key', ['organizationId', 'id'])
@Unique('users_email_key', ['organizationId', 'email'])
@RefersTo('OrganizationEntity', 'organizationId', 'users_organization_fkey')
export class UserEntity {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
  })
  id: string;

  @Column('integer')
  organizationId: number;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  createdAt: Date;

  @Column('text')
  email: string;

  @Column('text', { nullable: true })
  firstName: string | null;

  @Column('text', { nullable: true })
  lastName: string | null;
}
