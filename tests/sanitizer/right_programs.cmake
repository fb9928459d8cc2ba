# SPDX-License-Identifier: Apache-2.0
# Right programs under ADVANCE_STEP_SANITIZE=all, in which there must be no finding: the examples,
# serve, and tests of tests/conformance but for those that misuse the interface on purpose.
#
# A program of the first two ends with status 1 after a finding, a test by the setting of its own.
set(sanitized ADVANCE_STEP_SANITIZE=all ADVANCE_STEP_SANITIZE_ACTION=fail)

function(advance_step_sanitized_test name)
  add_test(NAME sanitized_${name} COMMAND ${ARGN})
  set_tests_properties(sanitized_${name} PROPERTIES LABELS public TIMEOUT 300 ENVIRONMENT "${sanitized}")
endfunction()

if(ADVANCE_STEP_BUILD_EXAMPLES)
  foreach(example IN ITEMS advance_step_c decode_loop hpp_decode tutorial speculative step_example step_loop cookbook
                          graph_capture acl_tour_c client_objects shared_kv_cache_c reduced_model_c
                          conditional_graph_c single_operator_c traced_step graph_mode graph_classic)
    advance_step_sanitized_test(${example} ${example})
  endforeach()
  # It shows which calls a capture refuses, each of which the check sync tells.
  set_tests_properties(sanitized_acl_tour_c PROPERTIES
                       ENVIRONMENT "ADVANCE_STEP_SANITIZE=memory,race,init,limits;ADVANCE_STEP_SANITIZE_ACTION=fail")
  advance_step_sanitized_test(serve serve --max-seqs 32 --block-size 16 --blocks 900)
  advance_step_sanitized_test(serve_speculative serve --block-size 16 --speculative 4)
endif()

# advance_step_sanitized_conformance(TEST MISUSE ...): all of tests/conformance's TEST but these.
function(advance_step_sanitized_conformance test)
  list(JOIN ARGN ":" misuse)
  advance_step_sanitized_test(${test} ${test} --gtest_filter=-${misuse})
  set_tests_properties(sanitized_${test} PROPERTIES
                       ENVIRONMENT "ADVANCE_STEP_TEST_SANITIZE=all;ADVANCE_STEP_TEST_SANITIZE_ACTION=fail")
endfunction()

advance_step_sanitized_conformance(conformance_cann)
advance_step_sanitized_conformance(conformance_own_example)
advance_step_sanitized_conformance(conformance_host_call
  HostCallCaptureTest.AReplayChecksTheMemoryOfEachTensor
  HostCallPlanTest.BadMemoryIsRefusedByName
  HostCallPlanTest.TheMemoryOfEveryViewIsChecked
  HostCallPlanTest.TheWorkspaceIsChecked
  HostCallRunTest.AddressesMayComeBeforeTheRun)
advance_step_sanitized_conformance(conformance_own_operator
  OwnLongTest.OtherStreamsGoOnMeanwhile
  OwnPlanTest.APlanForOtherCoresOrAnotherDeviceIsNotFound
  OwnPlanTest.ARepeatableOneUsesNoMemoryOfAnEndedRuntime
  OwnPlanTest.AViewWithGapsSpansThem)
# Batches of random numbers, in which rows share blocks, are what some of these check.
advance_step_sanitized_conformance(conformance_device
  DevicesAtOnceTest.MemoryOfAnotherDeviceIsRefusedByAnOperator
  DeviceStatusTest.MemoryUseLeavesOutWhatWasFreedWhileWorkUsedIt
  LibraryThreadsTest.*
  OptionsTest.OverflowStatusIsWrittenInStreamOrder
  PeerTest.CopiesWorkWithAndWithoutAccess
  SigwaitTest.GetsTheSignal
  */DefaultStreamTest.IsTakenByItsHandle/*)
advance_step_sanitized_conformance(conformance_capture
  CaptureRulesTest.AStreamOfTheCaptureFollowsItsRules
  CapturedCopyTest.ACaptureOfAnotherContextForbidsNothing
  CapturedCopyTest.BadArgumentsAreRefusedAsElsewhere
  CapturedCopyTest.EverythingIsAllowedAfterTheEnd
  ConditionalTest.FreedMemoryOfASubGraphIsFound
  DecodeReplayTest.ARefusedLaunchChangesNothing
  DecodeReplayTest.EveryFreedTensorIsNoticed
  DecodeReplayTest.LargeBatchesReplayToo
  InvalidatedTest.TakesNoOtherCall
  ReplayAtAPlaceTest.RunsWhenTheMemoryIs*
  ReplayExecuteTest.EachOfManyIsToldOfItsFailures
  TaskGroupTest.MemoryThatWasFreedBeforeTheEndOfAnUpdate
  TaskGroupTest.TheMemoryIsThatOfTheNewLaunches
  TraceTest.ALaunchOfATaskGroupIsThatOfItsUpdate
  TraceTest.EveryTaskIsOnItsStreamsTrackInOrder
  */CaptureRuleTest.*
  */FreedMemoryTest.*
  */HostOperatorTest.AReplayChecksTheMemory/*
  */IntruderTest.*
  */OperatorReplayTest.AdvanceStepGoldenCases/*
  */TraceCoresTest.*
  */TraceOfTwoTest.ASecondProcessIsRefusedUntilTheFirstHasEndedItsTrace/*
  */UnsafeCopyTest.Synchronous*)
