/** The value that this share of all values does not exceed; Infinity when there are none. */
export const percentile = (values: number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? Infinity;

/** A whole number with separators of thousands. */
export const formatCount = (count: number): string => count.toLocaleString('en-US');

export const seconds = (milliseconds = 0): string => `${(milliseconds / 1000).toFixed(2)} s`;

/** Median and maximum. */
export const spread = (milliseconds: number[]): string =>
  `${seconds(percentile(milliseconds, 0.5))}, at most ${seconds(Math.max(...milliseconds))}`;
