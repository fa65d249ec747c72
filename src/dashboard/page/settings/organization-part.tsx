/** The organization itself: its name, and its deletion. */
import { useLocation } from "wouter";
import { ME } from "../data/me.ts";
import { useCurrent, useIsOwner } from "../data/organization.tsx";
import { useAction } from "../data/use-action.ts";
import { ConfirmButton } from "../ui/confirm.tsx";
import { TextField } from "../ui/fields.tsx";
import { Form } from "../ui/form.tsx";

export function OrganizationPart() {
  const isOwner = useIsOwner();
  const { organization } = useCurrent();
  if (isOwner) {
    return (
      <>
        <Name />
        <Deletion />
      </>
    );
  }
  return (
    <section aria-labelledby="organization">
      <h2 id="organization">Organization</h2>
      <p>{organization.name}</p>
      <p className="soft">Only owners can rename or delete the organization.</p>
    </section>
  );
}

function Name() {
  const { organization, atrium } = useCurrent();
  const rename = useAction((name: string) => atrium.organization.rename(name), {
    notice: "Organization renamed",
    invalidates: [ME],
    isForm: true,
  });
  return (
    <section aria-labelledby="organization">
      <h2 id="organization">Organization</h2>
      <Form
        submitLabel="Rename"
        error={rename.error}
        isBusy={rename.isPending}
        onSubmit={({ name = "" }) => rename.mutate(name)}
      >
        <TextField label="Name" name="name" required maxLength={255} defaultValue={organization.name} />
      </Form>
    </section>
  );
}

function Deletion() {
  const { organization, atrium } = useCurrent();
  const [, go] = useLocation();
  const remove = useAction(() => atrium.organization.delete(organization.name), {
    notice: `${organization.name} is being deleted`,
    invalidates: [ME],
    isForm: true,
  });
  const act = {
    ...remove,
    mutateAsync: async () => {
      await remove.mutateAsync();
      go("/");
    },
  };
  return (
    <section aria-labelledby="deletion">
      <h2 id="deletion">Delete the organization</h2>
      <p className="soft">
        Ends every access at once, for members, API keys and users, and then removes all rooms, users, files,
        webhooks and workflows. This cannot be undone.
      </p>
      <div>
        <ConfirmButton
          label="Delete organization"
          variant="danger"
          title={`Delete ${organization.name}?`}
          confirmLabel="Delete organization"
          typed={organization.name}
          act={act}
        >
          <p>
            Its API keys stop working, its users are disconnected, and everything that it owns is deleted for
            good: rooms, users, files, webhooks and workflows. You and the other members keep your accounts.
          </p>
        </ConfirmButton>
      </div>
    </section>
  );
}
