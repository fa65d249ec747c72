/** Backups and restores of a deployment: its organizations by their IDs, and its people, who are restored first. */
import * as z from "zod";
import { jwtSecrets } from "../../platform/config.ts";
import { type Sealer, sealerFor } from "../../platform/crypto/sealer.ts";
import { openDirectory } from "../../platform/d1/databases.ts";
import {
  Beginning,
  DEPLOYMENT,
  DeploymentManifest,
  type ListedOrganization,
  type OrganizationPage,
  PARTS,
  PeopleSlice,
} from "./format.ts";
import {
  answer,
  answerManifest,
  answerSlice,
  BackupId,
  bodyOf,
  genuineSlice,
  type Operation,
  parameterOf,
} from "./operator-call.ts";
import { endOperatorToken } from "./operator-token.ts";
import { requireVersion } from "./restore-rows.ts";
import { insertPeople, selectOrganization, selectOrganizations, selectPeople } from "./store.ts";
import type { OperatorPurpose } from "./table.ts";

/** Encrypts the hashes of passwords, so that a reader of the backup without the deployment's secret cannot guess them. */
const passwordSealer = (secrets: readonly [current: string, ...replaced: string[]]): Sealer =>
  sealerFor(secrets, "atrium passwords in backups");

/** Binds a sealed hash to its person. */
const placeOfPassword = (personId: string): readonly string[] => ["password", personId];

const ORGANIZATIONS_IN_PAGE = 500;
/** A restore binds a slice as one parameter, of which D1 takes 2 MB: a person with 20 long passkeys has some 50 kB. */
const PEOPLE_IN_SLICE = 25;

const BEGINNING = "beginning";

/** Signs that this deployment has begun this backup. */
const beginBackup: Operation = async (call) => {
  const { backupId } = await bodyOf(call, BackupId);
  const beginning: Beginning = { backupId, startedAt: new Date(call.now()).toISOString() };
  return answerSlice(call, backupId, BEGINNING, beginning);
};

/** Refuses a backup that another deployment has begun. */
const resume: Operation = async (call) => {
  await genuineSlice(call, parameterOf(call, "backup"), BEGINNING, Beginning);
  return answer(call, {});
};

const listed = <Row extends { readonly isBeingRestored: number }>(row: Row) => ({
  ...row,
  isBeingRestored: row.isBeingRestored === 1,
});

const After = z.object({ after: z.string().nullable() });

const organizations: Operation = async (call) => {
  const { after } = await bodyOf(call, After);
  const statement = selectOrganizations(after ?? "", ORGANIZATIONS_IN_PAGE);
  const [rows] = await openDirectory(call.env).run([statement]);
  const page: OrganizationPage = {
    organizations: rows.map(listed),
    after: rows.length < ORGANIZATIONS_IN_PAGE ? null : (rows.at(-1)?.id ?? null),
  };
  return answer(call, page);
};

/** Null when the organization does not exist. */
const organization: Operation = async (call) => {
  const { id } = await bodyOf(call, z.object({ id: z.string() }));
  const [[row]] = await openDirectory(call.env).run([selectOrganization(id)]);
  const found: ListedOrganization | null = row === undefined ? null : listed(row);
  return answer(call, { organization: found });
};

const parseProviders = (json: string) => JSON.parse(json) as PeopleSlice["people"][number]["providers"];

/** A slice of the people. Hashes of passwords are sealed, so that the folder of a backup gives none away. */
const readPeople: Operation = async (call) => {
  const { backupId, after } = await bodyOf(call, BackupId.extend(After.shape));
  const [rows] = await openDirectory(call.env).run([selectPeople(after ?? "", PEOPLE_IN_SLICE)]);
  const sealer = passwordSealer(jwtSecrets(call.env));
  const sealed = ({ password, id }: (typeof rows)[number]) =>
    password === null ? null : sealer.seal(password, placeOfPassword(id));
  const slice: PeopleSlice = {
    people: await Promise.all(
      rows.map(async (row) => ({
        ...row,
        password: await sealed(row),
        providers: parseProviders(row.providers),
        passkeys: JSON.parse(row.passkeys) as PeopleSlice["people"][number]["passkeys"],
        secondFactor: row.secondFactor === null ? null : JSON.parse(row.secondFactor),
      })),
    ),
    after: rows.length < PEOPLE_IN_SLICE ? null : (rows.at(-1)?.id ?? null),
  };
  return answerSlice(call, backupId, PARTS.people, slice);
};

const Finish = DeploymentManifest.omit({ format: true, schema: true, finishedAt: true });

/** Signs the manifest, and ends the operator's token. */
const finishBackup: Operation = async (call) => {
  const finished = await bodyOf(call, Finish);
  await endOperatorToken(openDirectory(call.env), DEPLOYMENT, "backup");
  return answerManifest(call, finished);
};

/** Refuses a backup that this service has not written, or cannot read. */
const beginRestore: Operation = async (call) => {
  requireVersion(await genuineSlice(call, parameterOf(call, "backup"), "manifest", DeploymentManifest));
  return answer(call, {});
};

/** Adds the people of a slice whom the service does not know. Safe to repeat. */
const addPeople: Operation = async (call) => {
  const slice = await genuineSlice(call, parameterOf(call, "backup"), PARTS.people, PeopleSlice);
  const sealer = passwordSealer(jwtSecrets(call.env));
  const opened = ({ password, id }: PeopleSlice["people"][number]) =>
    password === null ? null : sealer.open(password, placeOfPassword(id));
  const stored = await Promise.all(
    slice.people.map(async (person) => ({ ...person, password: await opened(person) })),
  );
  const [added] = await openDirectory(call.env).run(insertPeople(stored, call.now()));
  return answer(call, { added: added.length });
};

const finishRestore: Operation = async (call) => {
  await endOperatorToken(openDirectory(call.env), DEPLOYMENT, "restore");
  return answer(call, {});
};

export const DEPLOYMENT_OPERATIONS: Readonly<Record<OperatorPurpose, Readonly<Record<string, Operation>>>> = {
  backup: {
    begin: beginBackup,
    resume,
    organizations,
    organization,
    people: readPeople,
    finish: finishBackup,
  },
  restore: { begin: beginRestore, people: addPeople, organization, finish: finishRestore },
};
