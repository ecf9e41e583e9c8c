// One time for all: what shows something listens, what is touched sets it.

export class Clock {
  constructor(times) {
    this.times = times;
    this.start = times[0];
    this.end = times[times.length - 1];
    this.time = this.start;
    this.speed = 1;
    this.playing = false;
    this.listeners = [];
  }

  /** Calls `listener(clock)` now and at every change. */
  listen(listener) {
    this.listeners.push(listener);
    listener(this);
  }

  changed() {
    for (const listener of this.listeners) listener(this);
  }

  set(time) {
    this.time = Math.min(this.end, Math.max(this.start, time));
    this.changed();
  }

  /** One recorded state on or back. */
  step(by) {
    this.pause();
    const nearest = this.nearest(this.time);
    this.set(this.times[Math.min(this.times.length - 1, Math.max(0, nearest + by))]);
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  pause() {
    this.playing = false;
    this.changed();
  }

  play() {
    if (this.time >= this.end) this.time = this.start;
    this.playing = true;
    let before = performance.now();
    const tick = (now) => {
      if (!this.playing) return;
      const time = this.time + (this.speed * Math.max(0, now - before)) / 1000;
      before = now;
      if (time >= this.end) this.playing = false;
      this.set(time);
      requestAnimationFrame(tick);
    };
    this.changed();
    requestAnimationFrame(tick);
  }

  /** The recorded states around a time and how far it is from the first to the second: [k, k + 1, share]. */
  between(time) {
    let low = 0;
    let high = this.times.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.times[middle] <= time) low = middle;
      else high = middle;
    }
    const span = this.times[high] - this.times[low];
    return [low, high, span > 0 ? (time - this.times[low]) / span : 0];
  }

  /** The recorded state nearest to a time. */
  nearest(time) {
    const [low, high, share] = this.between(time);
    return share < 0.5 ? low : high;
  }
}
