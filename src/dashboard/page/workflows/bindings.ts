/** What a workflow is given, member by member, as the SDK declares it. */
import events from "atrium/source/wire/events.ts?raw";
import things from "atrium/source/wire/resources.ts?raw";
import bindings from "atrium/source/workflow/index.ts?raw";
import { type Declaration, type Member, readDeclarations } from "./declarations.ts";

const DECLARATIONS: ReadonlyMap<string, Declaration> = new Map(
  [events, things, bindings].flatMap((source) => [...readDeclarations(source)]),
);

const membersOf = (name: string): readonly Member[] => DECLARATIONS.get(name)?.members ?? [];

/** Which of the events it is, only the author knows: what any of them has. */
const EVENT: readonly Member[] = [
  ...new Map(
    [...DECLARATIONS.values()]
      .filter(({ base }) => base === "Common")
      .flatMap(({ members }) => [...membersOf("Common"), ...members])
      .map((member) => [member.name, member]),
  ).values(),
];

/** What can stand after the names, one of the other; after none, the bindings themselves. */
export function membersAfter(names: readonly string[]): readonly Member[] {
  let members = membersOf("Bindings");
  for (const name of names) {
    const [type = ""] = members.find((member) => member.name === name)?.type.split(/[<\s]/) ?? [];
    members = type === "EventOf" ? EVENT : membersOf(type);
  }
  return members;
}
