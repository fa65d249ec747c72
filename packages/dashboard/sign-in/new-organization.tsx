/** The page that creates another organization. */

import type { OwnOrganization } from "@atrium/contract/rest/people.ts";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Redirect, useLocation } from "wouter";
import { callDashboard, ME, useMe, useSignOut } from "../data/api.ts";
import { Button } from "../ui/button.tsx";
import { Loading } from "../ui/feedback.tsx";
import { NameField } from "../ui/fields.tsx";
import { Form } from "../ui/form.tsx";
import { SignInLayout } from "./credentials.tsx";
import { useSignUpPolicy } from "./sign-up.tsx";

export default function NewOrganization() {
  const { me, isPending } = useMe();
  const queries = useQueryClient();
  const [, go] = useLocation();
  const { data: policy, isPending: isPolicyPending } = useSignUpPolicy();
  const create = useMutation({
    mutationFn: (name: string) =>
      callDashboard<{ organization: OwnOrganization }>("POST", "organizations", { name }),
    onSuccess: async ({ organization }) => {
      await queries.invalidateQueries({ queryKey: ME });
      go(`/${organization.id}`);
    },
  });
  if (isPending || isPolicyPending) return <Loading />;
  if (me === null) return <Redirect to="/sign-in?next=/dashboard/new" replace />;
  if (policy?.type === "invite" && me.organizations.length === 0) return <Waiting email={me.person.email} />;
  return (
    <SignInLayout title="New organization">
      <Form
        submitLabel="Create organization"
        action={create}
        toInput={({ name = "" }) => name}
        {...(me.organizations.length > 0 && { onCancel: () => history.back() })}
      >
        <NameField autoComplete="organization" autoFocus hint="It has its own rooms, API keys and members." />
      </Form>
    </SignInLayout>
  );
}

/** Shown to someone who is no member of an organization, and may not create one. */
function Waiting({ email }: { readonly email: string }) {
  const signOut = useSignOut();
  return (
    <SignInLayout title="No organization yet">
      <p>
        You are signed in as {email}. Ask an owner of your organization for an invitation, and open its link.
      </p>
      <Button isBusy={signOut.isPending} onClick={() => signOut.mutate()}>
        Sign out
      </Button>
    </SignInLayout>
  );
}
