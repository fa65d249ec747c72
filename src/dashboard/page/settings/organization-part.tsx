/** The organization itself: its name, and its deletion. */
import { useLocation } from "wouter";
import { ME } from "../data/api.ts";
import { useAction, useCurrent, useIsOwner } from "../data/organization.tsx";
import { ConfirmAction, Form } from "../ui/dialog.tsx";
import { TextField } from "../ui/fields.tsx";
import { Section } from "../ui/page.tsx";

export function OrganizationPart() {
  const isOwner = useIsOwner();
  const { name } = useCurrent().organization;
  if (isOwner) {
    return (
      <>
        <Name name={name} />
        <Deletion name={name} />
      </>
    );
  }
  return (
    <Section id="organization" title="Organization">
      <p>{name}</p>
      <p className="soft">Only owners can rename or delete the organization.</p>
    </Section>
  );
}

interface NameProps {
  readonly name: string;
}

function Name({ name }: NameProps) {
  const rename = useAction(({ organization }, next: string) => organization.rename(next), {
    notice: "Organization renamed",
    refreshes: [ME],
  });
  return (
    <Section id="organization" title="Organization">
      <Form submitLabel="Rename" action={rename} toInput={({ name: next = "" }) => next}>
        <TextField label="Name" name="name" required maxLength={255} defaultValue={name} />
      </Form>
    </Section>
  );
}

function Deletion({ name }: NameProps) {
  const [, go] = useLocation();
  return (
    <Section
      id="deletion"
      title="Delete the organization"
      about="Ends every access at once, for members, API keys and users, and then removes all rooms, users, files, webhooks and workflows. This cannot be undone."
    >
      <div>
        <ConfirmAction
          label="Delete organization"
          variant="danger"
          title={`Delete ${name}?`}
          confirmLabel="Delete organization"
          typed={name}
          act={({ organization }) => organization.delete(name)}
          options={{
            notice: `${name} is being deleted`,
            refreshes: [ME],
            onDone: () => go("~/dashboard"),
          }}
        >
          <p>
            Its API keys stop working, its users are disconnected, and everything that it owns is deleted for
            good: rooms, users, files, webhooks and workflows. You and the other members keep your accounts.
          </p>
        </ConfirmAction>
      </div>
    </Section>
  );
}
