import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { CsvService } from '../exchange/csv/csv.service';
import type { Extension } from '../extensions/extension';
import { CommandLineModule } from './command-line.module';
import { Session } from './session';

/** Loads what commands share. A program that only prints its help or its version does without. */
export async function loadSession(extension: Extension, serve?: () => Promise<void>) {
  // Standard output is for the command's result, and errors are thrown.
  Logger.overrideLogger(false);
  const session = new Session(extension, serve);
  const root = CommandLineModule.with(session.contexts);
  const context = await NestFactory.createApplicationContext(root, { abortOnError: false });
  return { session, csv: context.get(CsvService) };
}
