/** The organizations of the REST bench: one for reads, and one for writes, which fills up. */
import { Organization } from "./organization.ts";
import type { Database } from "./serve.ts";

const ROOMS = 200;
const USERS = 50;

/** An organization and one of its rooms. */
export interface Tenancy {
  readonly organization: Organization;
  readonly roomId: string;
}

/** Organizations apart, so that the rows that writes create do not slow down reads, or those of another Worker. */
export interface Seed {
  /** 200 rooms, one of them with 50 users. */
  readonly read: Tenancy;
  readonly written: Tenancy;
  /** Tenancy for writes of the floors: Atrium would relay the events that they leave in the outbox. */
  readonly writtenByFloors: Tenancy;
}

export async function seed(db: Database, origin: string): Promise<Seed> {
  const read = await createTenancy(db, origin);
  for (let room = 1; room < ROOMS; room += 1) await read.organization.createRoom(`Room ${room}`);
  for (let user = 1; user <= USERS; user += 1) {
    await read.organization.createUser(`User ${user}`, read.roomId);
  }
  const [written, writtenByFloors] = [await createTenancy(db, origin), await createTenancy(db, origin)];
  return { read, written, writtenByFloors };
}

async function createTenancy(db: Database, origin: string): Promise<Tenancy> {
  const organization = await Organization.create(db, origin);
  return { organization, roomId: await organization.createRoom("The room") };
}
