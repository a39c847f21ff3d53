// SPDX-License-Identifier: Apache-2.0
// Reads SDFormat files with libsdformat and prints what it has to say, as `gz sdf --check` does.
// Exit code 0: loaded without an error; 1: errors.  Elements that are not in the specification (Gazebo reads some, as
// gz_frame_id) are warnings, with --strict errors.
// Without files it reads names of files, one on a line, and prints "done CODE" behind what it says of each: so one
// process serves many tests.
#include <iostream>
#include <string>
#include <sdf/sdf.hh>

static int check(const std::string &file, sdf::EnforcementPolicy unknown)
{
  sdf::ParserConfig config = sdf::ParserConfig::GlobalConfig();
  config.SetUnrecognizedElementsPolicy(unknown);
  config.SetDeprecatedElementsPolicy(sdf::EnforcementPolicy::WARN);
  sdf::Root root;
  const sdf::Errors errors = root.Load(file, config);
  for (const auto &error : errors)
    std::cout << error << "\n";
  if (!errors.empty())
    return 1;
  // the same list as `gz sdf --check`; each prints its own complaints
  bool sound = sdf::checkCanonicalLinkNames(&root);
  sound = sdf::checkJointParentChildLinkNames(&root) && sound;
  sound = sdf::checkFrameAttachedToNames(&root) && sound;
  sound = sdf::checkFrameAttachedToGraph(&root) && sound;
  sound = sdf::checkPoseRelativeToGraph(&root) && sound;
  sound = sdf::recursiveSameTypeUniqueNames(root.Element()) && sound;
  sound = sdf::recursiveSiblingUniqueNames(root.Element()) && sound;
  return sound ? 0 : 1;
}

int main(int argc, char **argv)
{
  int code = 0;
  bool served = false;
  auto unknown = sdf::EnforcementPolicy::WARN;
  for (int i = 1; i < argc; ++i)
  {
    if (std::string(argv[i]) == "--strict")
      unknown = sdf::EnforcementPolicy::ERR;
    else
    {
      served = true;
      code = std::max(code, check(argv[i], unknown));
    }
  }
  for (std::string file; !served && std::getline(std::cin, file);)
  {
    const int answer = check(file, unknown);
    std::cerr << std::flush;
    std::cout << "done " << answer << std::endl;
  }
  return code;
}
