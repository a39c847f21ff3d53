// SPDX-License-Identifier: Apache-2.0
// Reads SDFormat files with libsdformat and prints what it has to say, as `gz sdf --check` does.
// Exit code 0: loaded without an error; 1: errors.  Elements that are not in the specification (Gazebo reads some, as
// gz_frame_id) are warnings, with --strict errors.  With --values the links and joints are printed as libsdformat
// resolves them, one line each: a kind, a scoped name, words and numbers.
// Without files it reads names of files, one on a line, and prints "done CODE" behind what it says of each: so one
// process serves many tests.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <type_traits>
#include <utility>
#include <sdf/sdf.hh>

// the mathematics are ignition's or gz's, as the version of libsdformat has them
using Pose = std::decay_t<decltype(std::declval<const sdf::Link &>().RawPose())>;
using Vector = std::decay_t<decltype(std::declval<const sdf::JointAxis &>().Xyz())>;

static void printPose(const char *word, const Pose &pose)
{
  std::printf(" %s %.12g %.12g %.12g %.12g %.12g %.12g %.12g", word, pose.Pos().X(), pose.Pos().Y(), pose.Pos().Z(),
              pose.Rot().W(), pose.Rot().X(), pose.Rot().Y(), pose.Rot().Z());
}

static void printLink(const sdf::Link &link, const std::string &scope, const Pose &above)
{
  Pose pose;
  link.SemanticPose().Resolve(pose, "__model__");
  std::printf("link %s%s", scope.c_str(), link.Name().c_str());
  printPose("pose", above * pose);
  const auto &inertial = link.Inertial();
  const auto centre = inertial.Pose().Pos();
  const auto tensor = inertial.Moi();
  std::printf(" mass %.12g centre %.12g %.12g %.12g inertia", inertial.MassMatrix().Mass(), centre.X(), centre.Y(),
              centre.Z());
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      std::printf(" %.12g", tensor(i, j));
  std::printf("\n");
}

static void printJoint(const sdf::Joint &joint, const std::string &scope,
                       const Pose &above)
{
  std::string parent, child;
  joint.ResolveParentLink(parent);
  joint.ResolveChildLink(child);
  Pose pose;
  joint.SemanticPose().Resolve(pose, "__model__");
  std::printf("joint %s%s type %d parent %s child %s", scope.c_str(), joint.Name().c_str(),
              static_cast<int>(joint.Type()), parent.c_str(), child.c_str());
  for (unsigned int i = 0; i < 2; ++i)
  {
    const sdf::JointAxis *axis = joint.Axis(i);
    if (axis == nullptr)
      continue;
    Vector xyz;
    axis->ResolveXyz(xyz, "__model__");
    // in the axes of the world, which do not change where frames are written otherwise
    xyz = above.Rot().RotateVector(xyz);
    std::printf(" axis%u %.12g %.12g %.12g limits%u %.12g %.12g damping%u %.12g friction%u %.12g", i, xyz.X(), xyz.Y(),
                xyz.Z(), i, axis->Lower(), axis->Upper(), i, axis->Damping(), i, axis->Friction());
  }
  std::printf("\n");
}

static void printModel(const sdf::Model &model, const std::string &scope, const Pose &above,
                       const std::string &frame)
{
  Pose pose;
  if (!model.SemanticPose().Resolve(pose, frame).empty())
    pose = model.RawPose();
  const Pose place = above * pose;
  const std::string inside = scope + model.Name() + "::";
  for (uint64_t i = 0; i < model.LinkCount(); ++i)
    printLink(*model.LinkByIndex(i), inside, place);
  for (uint64_t i = 0; i < model.JointCount(); ++i)
    printJoint(*model.JointByIndex(i), inside, place);
  for (uint64_t i = 0; i < model.ModelCount(); ++i)
    printModel(*model.ModelByIndex(i), inside, place, "__model__");
}

static void printValues(const sdf::Root &root)
{
  if (root.Model() != nullptr)
    printModel(*root.Model(), "", Pose(), "");
  for (uint64_t w = 0; w < root.WorldCount(); ++w)
    for (uint64_t i = 0; i < root.WorldByIndex(w)->ModelCount(); ++i)
      printModel(*root.WorldByIndex(w)->ModelByIndex(i), "", Pose(), "world");
}

static int check(const std::string &file, sdf::EnforcementPolicy unknown, bool values)
{
  sdf::ParserConfig config = sdf::ParserConfig::GlobalConfig();
  config.SetUnrecognizedElementsPolicy(unknown);
  config.SetDeprecatedElementsPolicy(sdf::EnforcementPolicy::WARN);
  sdf::Root root;
  const sdf::Errors errors = root.Load(file, config);
  for (const auto &error : errors)
    std::cout << error << "\n";
  if (values)
    printValues(root);
  if (!errors.empty())
    return 1;
  // the same list as `gz sdf --check`; each prints its own complaints
  bool sound = sdf::checkCanonicalLinkNames(&root);
  sound = sdf::checkJointParentChildLinkNames(&root) && sound;
  sound = sdf::checkFrameAttachedToNames(&root) && sound;
  sound = sdf::checkFrameAttachedToGraph(&root) && sound;
  sound = sdf::checkPoseRelativeToGraph(&root) && sound;
  sound = sdf::recursiveSiblingUniqueNames(root.Element()) && sound;
  return sound ? 0 : 1;
}

int main(int argc, char **argv)
{
  int code = 0;
  bool served = false, values = false;
  auto unknown = sdf::EnforcementPolicy::WARN;
  for (int i = 1; i < argc; ++i)
  {
    const std::string word = argv[i];
    if (word == "--strict")
      unknown = sdf::EnforcementPolicy::ERR;
    else if (word == "--values")
      values = true;
    else
    {
      served = true;
      code = std::max(code, check(word, unknown, values));
    }
  }
  for (std::string file; !served && std::getline(std::cin, file);)
  {
    const int answer = check(file, unknown, values);
    std::cerr << std::flush;
    std::cout << "done " << answer << std::endl;
  }
  return code;
}
