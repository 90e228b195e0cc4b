import { Injectable } from '@nestjs/common';

/** Whether this process wants more requests. */
@Injectable()
export class Readiness {
  isStopping = false;
}
