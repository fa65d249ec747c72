/** The placeholder while data loads. */
export const Loading = () => (
  <p className="loading" role="status">
    Loading…
  </p>
);
