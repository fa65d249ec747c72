/** What a restore of a whole deployment writes beside its organizations: the people, before the organizations that they are members of. */
import { jwtSecrets } from "../../platform/config/secrets.ts";
import { openDirectory } from "../../platform/placement/databases.ts";
import { organization } from "./deployment-backup.ts";
import { DEPLOYMENT, DeploymentManifest, PEOPLE, PeopleSlice } from "./deployment-format.ts";
import { insertPeople } from "./deployment-store.ts";
import { answer, genuineSlice, type Operation, parameterOf } from "./operator-call.ts";
import { endOperatorToken } from "./operator-token.ts";
import { requireVersion } from "./restore-begin.ts";
import { passwordSealer, placeOfPassword } from "./sealed-passwords.ts";

/** Refuses a backup that this service has not written, or cannot read. */
const begin: Operation = async (call) => {
  requireVersion(await genuineSlice(call, parameterOf(call, "backup"), "manifest", DeploymentManifest));
  return answer(call, {});
};

/** Adds the people of a slice whom the service does not know. It can be sent again. */
const people: Operation = async (call) => {
  const slice = await genuineSlice(call, parameterOf(call, "backup"), PEOPLE, PeopleSlice);
  const sealer = passwordSealer(jwtSecrets(call.env));
  const opened = ({ password, id }: PeopleSlice["people"][number]) =>
    password === null ? null : sealer.open(password, placeOfPassword(id));
  const stored = await Promise.all(
    slice.people.map(async (person) => ({ ...person, password: await opened(person) })),
  );
  const [added] = await openDirectory(call.env).run(insertPeople(stored, call.now()));
  return answer(call, { added: added.length });
};

const finish: Operation = async (call) => {
  await endOperatorToken(openDirectory(call.env), DEPLOYMENT, "restore");
  return answer(call, {});
};

export const DEPLOYMENT_RESTORE_OPERATIONS: Readonly<Record<string, Operation>> = {
  ...{ begin, people, organization, finish },
};
