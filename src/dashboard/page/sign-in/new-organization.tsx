/** Makes another organization. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Redirect, useLocation } from "wouter";
import { askDoor } from "../data/api.ts";
import { ME, type Membership, useMe } from "../data/me.ts";
import { Form } from "../ui/form.tsx";
import { Loading } from "../ui/loading.tsx";
import { TextField } from "../ui/text-field.tsx";
import { Door } from "./sign-in-layout.tsx";

export function NewOrganization() {
  const { me, isPending } = useMe();
  const queries = useQueryClient();
  const [, go] = useLocation();
  const create = useMutation({
    mutationFn: (name: string) => askDoor<{ organization: Membership }>("POST", "organizations", { name }),
    onSuccess: async ({ organization }) => {
      await queries.invalidateQueries({ queryKey: ME });
      go(`/${organization.id}`);
    },
  });
  if (isPending) return <Loading />;
  if (me === null) return <Redirect to="/sign-in?next=/dashboard/new" replace />;
  return (
    <Door title="New organization">
      <Form
        verb="Create organization"
        error={create.error}
        isBusy={create.isPending}
        onSubmit={({ name = "" }) => create.mutate(name)}
        {...(me.organizations.length > 0 && { onCancel: () => history.back() })}
      >
        <TextField
          label="Name"
          name="name"
          autoComplete="organization"
          required
          maxLength={255}
          autoFocus
          hint="It has rooms, keys and members of its own."
        />
      </Form>
    </Door>
  );
}
