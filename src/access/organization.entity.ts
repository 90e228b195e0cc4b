import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { TIMESTAMP } from '../data/schema/columns';

@Entity('organizations')
export class OrganizationEntity {
  @PrimaryGeneratedColumn('identity', { generatedIdentity: 'ALWAYS' }) id: number;
  @Column('text') name: string;
  @Column(TIMESTAMP) createdAt: Date;
}
