/** What stands where something is on its way. */
export const Loading = () => (
  <p className="loading" role="status">
    Loading…
  </p>
);
