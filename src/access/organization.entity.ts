import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { CREATED_AT } from '../database/columns';

@Entity('organizations')
export class OrganizationEntity {
  @PrimaryGeneratedColumn('identity', { generatedIdentity: 'ALWAYS' }) id: number;
  @Column('text') name: string;
  @Column(CREATED_AT) createdAt: Date;
}
