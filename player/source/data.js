// What the page carries: a description in JSON, and all numbers in one block of 32-bit floats, frame after frame.

/** Reads both from the page. */
export function readData(page) {
  const data = JSON.parse(page.getElementById("porthos-data").textContent);
  const bytes = Uint8Array.from(atob(page.getElementById("porthos-numbers").textContent.trim()), (c) => c.charCodeAt(0));
  const numbers = new Float32Array(bytes.buffer);
  /** A table of `width` numbers a frame that begins at `at`. */
  data.table = (at, width) => numbers.subarray(at, at + data.frames * width);
  data.times = data.table(data.time, 1);
  return data;
}
