/** What a backup of the whole deployment reads beside its organizations, each of which is backed up on its own. */
import * as z from "zod";
import { jwtSecrets } from "../../platform/config/secrets.ts";
import { openDirectory } from "../../platform/placement/databases.ts";
import {
  Beginning,
  DEPLOYMENT,
  DeploymentManifest,
  type ListedOrganization,
  type OrganizationPage,
  PEOPLE,
  type PeopleSlice,
} from "./deployment-format.ts";
import { selectOrganization, selectOrganizations, selectPeople } from "./deployment-store.ts";
import { ARCHIVE_FORMAT, SCHEMA } from "./format.ts";
import {
  answer,
  answerSigned,
  answerSlice,
  BackupId,
  bodyOf,
  encode,
  genuineSlice,
  type Operation,
  parameterOf,
} from "./operator-call.ts";
import { endOperatorToken } from "./operator-token.ts";
import { passwordSealer, placeOfPassword } from "./sealed-passwords.ts";

const ORGANIZATIONS_IN_PAGE = 500;
const PEOPLE_IN_SLICE = 200;

const BEGINNING = "beginning";

/** Signs that this deployment has begun this backup. */
const begin: Operation = async (call) => {
  const { backupId } = await bodyOf(call, BackupId);
  const beginning: Beginning = { backupId, startedAt: new Date(call.now()).toISOString() };
  return answerSigned(call, backupId, BEGINNING, encode(JSON.stringify(beginning)));
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

/** A page of the organizations that exist. */
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

/** One of the organizations; null when it does not exist. */
export const organization: Operation = async (call) => {
  const { id } = await bodyOf(call, z.object({ id: z.string() }));
  const [[row]] = await openDirectory(call.env).run([selectOrganization(id)]);
  const found: ListedOrganization | null = row === undefined ? null : listed(row);
  return answer(call, { organization: found });
};

/** A slice of the people. Hashes of passwords are sealed, so that the folder of a backup gives none away. */
const people: Operation = async (call) => {
  const { backupId, after } = await bodyOf(call, BackupId.extend(After.shape));
  const [rows] = await openDirectory(call.env).run([selectPeople(after ?? "", PEOPLE_IN_SLICE)]);
  const sealer = passwordSealer(jwtSecrets(call.env));
  const sealed = ({ password, id }: (typeof rows)[number]) =>
    password === null ? null : sealer.seal(password, placeOfPassword(id));
  const slice: PeopleSlice = {
    people: await Promise.all(rows.map(async (row) => ({ ...row, password: await sealed(row) }))),
    after: rows.length < PEOPLE_IN_SLICE ? null : (rows.at(-1)?.id ?? null),
  };
  return answerSlice(call, backupId, PEOPLE, slice);
};

const Finish = DeploymentManifest.omit({ format: true, schema: true, finishedAt: true });

/** Signs the manifest, which makes the backup whole, and ends the operator's token. */
const finish: Operation = async (call) => {
  const finished = await bodyOf(call, Finish);
  const manifest: DeploymentManifest = {
    ...{ format: ARCHIVE_FORMAT, schema: SCHEMA, ...finished },
    finishedAt: new Date(call.now()).toISOString(),
  };
  await endOperatorToken(openDirectory(call.env), DEPLOYMENT, "backup");
  return answerSigned(call, finished.backupId, "manifest", encode(JSON.stringify(manifest, null, 2)));
};

export const DEPLOYMENT_BACKUP_OPERATIONS: Readonly<Record<string, Operation>> = {
  ...{ begin, resume, organizations, organization, people, finish },
};
