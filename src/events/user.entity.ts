import { Column, Entity, ForeignKey, PrimaryGeneratedColumn, Unique } from 'typeorm';

@Entity('users')
@Unique('users_organization_id_key', ['organizationId', 'id'])
@Unique('users_email_key', ['organizationId', 'email'])
@ForeignKey('OrganizationEntity', ['organizationId'], ['id'], { name: 'users_organization_fkey', onDelete: 'CASCADE' })
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
